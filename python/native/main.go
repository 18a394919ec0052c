// Command native is the shared library that the Python package loads, built with
// -buildmode=c-shared. Package bridge has what it does; here are the functions of C.
//
// Texts that a function returns are freed by lw_free.
package main

/*
#include <stdint.h>
#include <stdlib.h>

// lw_array is an array in the caller's memory: kind is f (float32), d (float64), q (int64) or
// b (bytes), and size the number of its elements.
typedef struct {
	const void *data;
	int64_t size;
	char kind;
} lw_array;
*/
import "C"

import (
	"time"
	"unsafe"

	"github.com/listwise/listwise/python/bridge"
)

func main() {}

// text copies bytes to memory of C, with a 0 at the end.
func text(to **C.char, bytes []byte) {
	*to = C.CString(string(bytes))
}

// slice views memory of the caller.
func slice[T any](data unsafe.Pointer, n C.int64_t) []T {
	return unsafe.Slice((*T)(data), int(n))
}

//export lw_start
func lw_start(request *C.char, size C.int64_t, arrays *C.lw_array, count C.int64_t) C.uint64_t {
	var all bridge.Arrays
	for _, a := range unsafe.Slice(arrays, int(count)) {
		p := a.data
		switch a.kind {
		case 'f':
			all = append(all, slice[float32](p, a.size))
		case 'd':
			all = append(all, slice[float64](p, a.size))
		case 'q':
			all = append(all, slice[int64](p, a.size))
		default:
			all = append(all, slice[byte](p, a.size))
		}
	}
	return C.uint64_t(bridge.Start(slice[byte](unsafe.Pointer(request), size), all))
}

//export lw_wait
func lw_wait(job C.uint64_t, milliseconds C.int64_t, answer **C.char) C.int {
	state, bytes := bridge.Wait(uint64(job), time.Duration(milliseconds)*time.Millisecond)
	if *answer = nil; bytes != nil {
		text(answer, bytes)
	}
	return C.int(state)
}

//export lw_cancel
func lw_cancel(job C.uint64_t) { bridge.Cancel(uint64(job)) }

//export lw_end
func lw_end(job C.uint64_t) { bridge.End(uint64(job)) }

// lw_size returns the number of elements of array i of a job that is done, −1 if there is none.
//
//export lw_size
func lw_size(job C.uint64_t, i C.int64_t) C.int64_t {
	switch a := bridge.Array(uint64(job), int(i)).(type) {
	case []byte:
		return C.int64_t(len(a))
	case []float32:
		return C.int64_t(len(a))
	case []float64:
		return C.int64_t(len(a))
	}
	return -1
}

// lw_copy copies that array to memory of as many elements.
//
//export lw_copy
func lw_copy(job C.uint64_t, i C.int64_t, to unsafe.Pointer) {
	switch a := bridge.Array(uint64(job), int(i)).(type) {
	case []byte:
		copy(unsafe.Slice((*byte)(to), len(a)), a)
	case []float32:
		copy(unsafe.Slice((*float32)(to), len(a)), a)
	case []float64:
		copy(unsafe.Slice((*float64)(to), len(a)), a)
	}
}

//export lw_release
func lw_release(model C.uint64_t) { bridge.Release(uint64(model)) }

// lw_score sets scores to the scores of one query's documents. It returns 0, or 1 with an error.
//
//export lw_score
func lw_score(model C.uint64_t, x *C.float, documents, features C.int64_t, scores *C.double, message **C.char) C.int {
	dst := slice[float64](unsafe.Pointer(scores), documents)
	if err := bridge.ScoreQuery(uint64(model), dst, slice[float32](unsafe.Pointer(x), documents*features)); err != nil {
		text(message, []byte(err.Error()))
		return 1
	}
	return 0
}

// lw_threads sets on how many cores the library runs, and returns on how many it did; 0 changes
// nothing.
//
//export lw_threads
func lw_threads(n C.int) C.int { return C.int(bridge.Threads(int(n))) }

//export lw_free
func lw_free(text *C.char) { C.free(unsafe.Pointer(text)) }
