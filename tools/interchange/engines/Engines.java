import ciir.umass.edu.learning.DenseDataPoint;
import ciir.umass.edu.learning.Ranker;
import ciir.umass.edu.learning.RankerFactory;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.solr.common.util.Utils;
import org.apache.solr.core.SolrResourceLoader;
import org.apache.solr.ltr.model.LTRScoringModel;
import org.apache.solr.ltr.store.rest.ManagedFeatureStore;
import org.apache.solr.ltr.store.rest.ManagedModelStore;
import org.apache.solr.rest.ManagedResourceStorage;

/**
 * Scores documents with models, by the classes of Solr's learning-to-rank module and of
 * RankyMcRankFace. Each line of the file given is a task: the engine (solr or ranklib), the model,
 * the documents (values separated by spaces), where the scores go and, for solr, where the model
 * goes as its store writes it.
 */
public class Engines {
  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream())); // RankLib talks much
    int n = 0;
    for (String line : Files.readAllLines(Paths.get(args[0]))) {
      String[] task = line.split("\t");
      List<float[]> documents = new ArrayList<>();
      for (String row : Files.readAllLines(Paths.get(task[2]))) {
        String[] words = row.split(" ");
        float[] x = new float[words.length];
        for (int j = 0; j < x.length; j++) {
          x[j] = Float.parseFloat(words[j]);
        }
        documents.add(x);
      }
      List<String> scores;
      try {
        scores = task[0].equals("solr") ? solr(task, documents) : ranklib(task, documents);
      } catch (Throwable e) {
        throw new Exception("task " + line, e);
      }
      Files.write(Paths.get(task[3]), scores);
      n++;
    }
    out.println(n + " models");
    out.flush();
    System.exit(0);
  }

  static List<String> ranklib(String[] task, List<float[]> documents) throws Exception {
    Ranker ranker = new RankerFactory().loadRankerFromFile(task[1]);
    List<String> scores = new ArrayList<>();
    for (float[] x : documents) {
      StringBuilder text = new StringBuilder("0 qid:1");
      for (int j = 0; j < x.length; j++) {
        text.append(' ').append(j + 1).append(':').append(x[j]);
      }
      scores.add(Double.toString(ranker.eval(new DenseDataPoint(text.toString()))));
    }
    return scores;
  }

  @SuppressWarnings("unchecked")
  static List<String> solr(String[] task, List<float[]> documents) throws Exception {
    String json = new String(Files.readAllBytes(Paths.get(task[1])), StandardCharsets.UTF_8);
    Map<String, Object> map = (Map<String, Object>) Utils.fromJSONString(json);
    Path home = Paths.get(task[1]).toAbsolutePath().getParent();
    try (SolrResourceLoader loader = new SolrResourceLoader(home)) {
      ManagedFeatureStore features =
          new ManagedFeatureStore("/schema/feature-store", loader, new ManagedResourceStorage.InMemoryStorageIO());
      for (Map<String, Object> feature : (List<Map<String, Object>>) map.get("features")) {
        Map<String, Object> definition = new HashMap<>();
        definition.put("name", feature.get("name"));
        definition.put("class", "org.apache.solr.ltr.feature.ValueFeature");
        Map<String, Object> params = new HashMap<>();
        params.put("value", 1.0);
        definition.put("params", params);
        features.addFeature(definition, (String) map.get("store"));
      }
      LTRScoringModel model = ManagedModelStore.fromLTRScoringModelMap(loader, map, features);
      List<String> scores = new ArrayList<>();
      for (float[] x : documents) {
        float[] values = x.clone();
        model.normalizeFeaturesInPlace(values);
        scores.add(Float.toString(model.score(values)));
      }
      if (task.length > 4) {
        Method write = ManagedModelStore.class.getDeclaredMethod("toLTRScoringModelMap", LTRScoringModel.class);
        write.setAccessible(true);
        Files.write(Paths.get(task[4]), Utils.toJSONString(write.invoke(null, model)).getBytes(StandardCharsets.UTF_8));
      }
      return scores;
    }
  }
}
