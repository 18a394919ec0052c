package interchange

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendText(b []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// onnxAttribute returns an AttributeProto of a node, with its tag there.
func onnxAttribute(name string, kind uint64, value []byte) []byte {
	a := append(appendText(nil, onnxAttrName, name), value...)
	return appendBytes(nil, onnxNodeAttribute, appendVarint(a, onnxAttrType, kind))
}

func intAttribute(name string, v uint64) []byte {
	return onnxAttribute(name, onnxInt, appendVarint(nil, onnxAttrI, v))
}

func floatAttribute(name string, v float32) []byte {
	value := protowire.AppendFixed32(protowire.AppendTag(nil, onnxAttrF, protowire.Fixed32Type), math.Float32bits(v))
	return onnxAttribute(name, onnxFloat, value)
}

func stringAttribute(name, v string) []byte {
	return onnxAttribute(name, onnxString, appendText(nil, onnxAttrS, v))
}

func intsAttribute(name string, list []int64) []byte {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	return onnxAttribute(name, onnxInts, appendBytes(nil, onnxAttrInts, packed))
}

func floatsAttribute(name string, list []float32) []byte {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendFixed32(packed, math.Float32bits(v))
	}
	return onnxAttribute(name, onnxFloats, appendBytes(nil, onnxAttrFloats, packed))
}

func stringsAttribute(name string, list []string) []byte {
	var value []byte
	for _, v := range list {
		value = appendText(value, onnxAttrStrings, v)
	}
	return onnxAttribute(name, onnxStrings, value)
}
