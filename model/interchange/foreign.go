package interchange

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/listwise/listwise/internal/strictjson"
)

// foreigners lists formats that the package recognises but cannot read. The function is recognises
// a format by the beginning of a file. The text what describes the format and says how to get a
// file that can be read.
var foreigners = []struct {
	is   func(head []byte) bool
	what string
}{
	{func(head []byte) bool { return len(bytes.TrimSpace(head)) == 0 }, "an empty file, expected a model file"},
	{isPickle, `a pickle of Python, which may run any program when it is read, expected a model file: load it in Python and save with LightGBM's booster_.save_model("FILE.txt"), XGBoost's save_model("FILE.json") or CatBoost's save_model("FILE.json", format="json")`},
	{prefixed("CBM1"), `CatBoost's binary format (.cbm), expected its JSON: in Python CatBoost().load_model("FILE.cbm").save_model("FILE.json", format="json")`},
	{isLightGBMDump, `a JSON dump of LightGBM (dump_model), which is for reading by people, expected a model file: Booster.save_model("FILE.txt") writes one`},
	{textDump.Match, `a text dump of XGBoost (dump_model, get_dump), which is for reading by people, expected a model file: Booster.save_model("FILE.json") writes one`},
	{graphDump, `a drawing of trees (DOT), expected a model file: save_model of XGBoost, LightGBM or CatBoost writes one`},
	{prefixed("binf", "bs64"), `XGBoost's old binary format, expected JSON or UBJSON: in Python with XGBoost before 3.1 Booster(model_file="FILE").save_model("FILE.json")`},
	{prefixed("\xfd7zXZ\x00"), "a file that xz compressed, expected a model file: xz --decompress FILE gives it"},
	{prefixed("\x1f\x8b"), "a file that gzip compressed, expected a model file: gzip --decompress FILE.gz gives it"},
	{prefixed("\x28\xb5\x2f\xfd"), "a file that zstd compressed, expected a model file: zstd --decompress FILE gives it"},
	{prefixed("BZh"), "a file that bzip2 compressed, expected a model file: bzip2 --decompress FILE gives it"},
	{prefixed("\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda"), "a file that zlib compressed, such as a pickle that joblib writes, expected a model file: load it in Python and save with the model's own save_model"},
	{prefixed("\x93NUMPY"), "an array of numpy, expected a model file: a linear model's weights can be written as JSON, as scikit-learn's are"},
	{prefixed("PK\x03\x04"), "a zip archive, such as PyTorch, Keras and numpy write, expected a model file: a linear model's weights can be written as JSON, as scikit-learn's are"},
	{prefixed("\x89HDF\r\n\x1a\n"), "HDF5, such as Keras writes, expected a model file: a linear model's weights can be written as JSON, as scikit-learn's are"},
	{isONNX, "ONNX, which is written and not read, expected the model file that it was made of"},
	{isPMML, "PMML, expected the model file that it was made of"},
	{isFeatureStore, "Solr's feature store, expected a model: the model store answers them at schema/model-store"},
	{isElasticNative, "a trained model of Elasticsearch's own learning to rank, which is written and not read, expected the model file that it was made of"},
	{isUTF16, "text in UTF-16, such as a redirection of PowerShell writes, expected UTF-8"},
}

// CheckForeign returns an error if the beginning of a file shows a format that cannot be read. The
// error names the format and a remedy.
func CheckForeign(head []byte) error {
	for _, f := range foreigners {
		if f.is(head) {
			return errors.New("found " + f.what)
		}
	}
	return nil
}

func prefixed(texts ...string) func(head []byte) bool {
	return func(head []byte) bool {
		for _, text := range texts {
			if bytes.HasPrefix(head, []byte(text)) {
				return true
			}
		}
		return false
	}
}

// isPickle reports whether a file is a Python pickle of protocols 2 to 5, which begins with the
// protocol's number, or a pickled object of protocol 0.
func isPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 || bytes.HasPrefix(head, []byte("ccopy_reg\n"))
}

// isLightGBMDump reports whether a file is the JSON of LightGBM's dump_model. It recognises an
// object that begins with "name" and has a list of trees, and any JSON with the keys of the dump's
// trees.
func isLightGBMDump(head []byte) bool {
	return firstKey(head) == "name" && bytes.Contains(head, []byte(`"tree_info"`)) || bytes.Contains(head, []byte(`"tree_structure"`)) && bytes.Contains(head, []byte(`"split_feature"`))
}

var (
	textDump  = regexp.MustCompile(`^\s*(booster\[0\]:?\s*)?0:(\[.*\] yes=[0-9]+,no=[0-9]+|leaf=)`)
	dotGraph  = regexp.MustCompile(`^\s*digraph[\s{]`)
	pmmlBegin = regexp.MustCompile(`^\s*(<\?xml[^>]*>\s*)?(<!--[^>]*-->\s*)?<PMML[\s>]`)
)

func graphDump(head []byte) bool { return dotGraph.Match(head) }
func isPMML(head []byte) bool    { return pmmlBegin.Match(head) }

// isONNX reports whether a file begins as ONNX does, with the version of the format and the name of
// the producer.
func isONNX(head []byte) bool {
	return len(head) > 4 && head[0] == 8 && head[1] >= 3 && head[1] <= 32 && head[2] == 0x12 && int(head[3]) <= len(head)-4
}

func isFeatureStore(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"org.apache.solr.ltr.feature.`))
}

func isElasticNative(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"feature_extractors"`)) && bytes.Contains(head, []byte(`"inference_config"`))
}

func isUTF16(head []byte) bool {
	return len(head) > 1 && (uint16(head[0])<<8|uint16(head[1]) == 0xfeff || uint16(head[1])<<8|uint16(head[0]) == 0xfeff)
}

// modelNamed returns the element of list with the given name. If name is empty, list must have one
// element, which modelNamed returns. nameOf returns the name of an element.
func modelNamed(at strictjson.Value, list []strictjson.Value, name string, nameOf func(strictjson.Value) string) (strictjson.Value, error) {
	var names []string
	for _, v := range list {
		own := nameOf(v)
		if own == name && name != "" || len(list) == 1 && name == "" {
			return v, nil
		}
		names = append(names, own)
	}
	switch {
	case len(list) == 0:
		return at, wrong(at, "found no models, expected one")
	case name != "":
		return at, wrong(at, "found no model %q, expected one of %q", name, names)
	}
	return at, wrong(at, "found %d models, %q, expected one: listwise import --name chooses", len(list), names)
}
