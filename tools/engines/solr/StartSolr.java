import java.nio.file.Path;
import java.util.Properties;
import org.apache.solr.client.solrj.embedded.JettyConfig;
import org.apache.solr.client.solrj.embedded.JettySolrRunner;

/** Solr over HTTP on the loopback interface, without its distribution: StartSolr HOME PORT. */
public class StartSolr {
  public static void main(String[] args) throws Exception {
    System.setProperty("host", "127.0.0.1");
    System.setProperty("solr.jetty.host", "127.0.0.1");
    JettyConfig config = JettyConfig.builder().setContext("/solr").setPort(Integer.parseInt(args[1])).stopAtShutdown(true).build();
    new JettySolrRunner(Path.of(args[0]).toAbsolutePath().toString(), new Properties(), config).start();
    Thread.currentThread().join();
  }
}
