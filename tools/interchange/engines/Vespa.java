import com.yahoo.searchlib.rankingexpression.RankingExpression;
import com.yahoo.searchlib.rankingexpression.evaluation.MapContext;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * Scores documents with ranking expressions, by Vespa's own evaluator. Each line of the file given
 * is a task: vespa, the expression, the documents (values separated by spaces, of the attributes
 * f0, f1 and so on), and where the scores go.
 */
public class Vespa {
  public static void main(String[] args) throws Exception {
    int n = 0;
    for (String line : Files.readAllLines(Paths.get(args[0]))) {
      String[] task = line.split("\t");
      RankingExpression expression = new RankingExpression(new String(Files.readAllBytes(Paths.get(task[1]))));
      List<String> scores = new ArrayList<>();
      for (String row : Files.readAllLines(Paths.get(task[2]))) {
        MapContext context = new MapContext();
        String[] words = row.split(" ");
        for (int j = 0; j < words.length; j++) {
          context.put("attribute(f" + j + ")", Double.parseDouble(words[j]));
        }
        scores.add(Double.toString(expression.evaluate(context).asDouble()));
      }
      Files.write(Paths.get(task[3]), scores);
      n++;
    }
    System.out.println(n + " models");
  }
}
