package train

// JudgedOf is judgedOf.
var JudgedOf = judgedOf
