import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.search.SearchModule;
import org.elasticsearch.xcontent.NamedXContentRegistry;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.elasticsearch.xpack.core.ml.action.PutTrainedModelAction;
import org.elasticsearch.xpack.core.ml.inference.InferenceToXContentCompressor;
import org.elasticsearch.xpack.core.ml.inference.MlInferenceNamedXContentProvider;
import org.elasticsearch.xpack.core.ml.inference.TrainedModelConfig;
import org.elasticsearch.xpack.core.ml.inference.trainedmodel.inference.InferenceDefinition;
import org.elasticsearch.xpack.core.ml.ltr.MlLTRNamedXContentProvider;

/**
 * Scores documents with models, by the classes with which Elasticsearch checks the body of PUT
 * _ml/trained_models and rescores. Each line of the file given is a task: the body, the documents
 * (NAME=VALUE separated by spaces, without missing values) and where the scores go.
 */
public class Elasticsearch {
  public static void main(String[] args) throws Exception {
    List<NamedXContentRegistry.Entry> entries = new ArrayList<>(new MlInferenceNamedXContentProvider().getNamedXContentParsers());
    entries.addAll(new MlLTRNamedXContentProvider().getNamedXContentParsers());
    entries.addAll(new SearchModule(Settings.EMPTY, List.of()).getNamedXContents());
    NamedXContentRegistry registry = new NamedXContentRegistry(entries);
    for (String line : Files.readAllLines(Paths.get(args[0]))) {
      String[] task = line.split("\t");
      try {
        Files.write(Paths.get(task[2]), scores(registry, Paths.get(task[0]), Files.readAllLines(Paths.get(task[1]))));
      } catch (Throwable e) {
        throw new Exception("task " + line, e);
      }
    }
  }

  static List<String> scores(NamedXContentRegistry registry, Path body, List<String> documents) throws Exception {
    PutTrainedModelAction.Request request;
    try (XContentParser parser = JsonXContent.jsonXContent.createParser(
        XContentParserConfiguration.EMPTY.withRegistry(registry), Files.readString(body, StandardCharsets.UTF_8))) {
      request = PutTrainedModelAction.Request.parseRequest("model", false, true, parser);
    }
    if (request.validate() != null) {
      throw request.validate();
    }
    TrainedModelConfig config = request.getTrainedModelConfig();
    config.ensureParsedDefinition(registry).getModelDefinition().getTrainedModel().validate();
    InferenceDefinition definition =
        InferenceToXContentCompressor.inflate(config.getCompressedDefinition(), InferenceDefinition::fromXContent, registry);
    List<String> scores = new ArrayList<>();
    for (String document : documents) {
      Map<String, Object> features = new HashMap<>();
      for (String word : document.split(" ")) {
        int at = word.indexOf('=');
        if (at > 0) {
          features.put(word.substring(0, at), Float.parseFloat(word.substring(at + 1)));
        }
      }
      scores.add(definition.infer(features, config.getInferenceConfig()).predictedValue().toString());
    }
    return scores;
  }
}
