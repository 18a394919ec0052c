package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Dictionary indices, levels and booleans are numbers of a few bits. They are encoded as runs of equal numbers
// and as packed groups of eight numbers. A few bytes can encode any number of values, so the values are
// decoded some at a time.

// runs decodes such numbers.
type runs struct {
	text []byte
	bits uint

	left   int    // numbers left in the current run
	value  uint32 // number that the run repeats
	packed []byte // packed numbers and the text after them; nil if the run repeats value
	from   int    // index of the next packed number
}

var errRuns = errors.New("found runs of numbers that end too soon")

// begin lets r decode the numbers in text.
func (r *runs) begin(text []byte, bits uint) { *r = runs{text: text, bits: bits} }

// next makes sure that the current run has numbers left.
func (r *runs) next() error {
	for r.left == 0 {
		head, n := binary.Uvarint(r.text)
		if n <= 0 || head > 1<<40 {
			return errRuns
		}
		text := r.text[n:]
		size := (r.bits + 7) / 8
		if head&1 != 0 { // groups of eight
			if size = uint(head>>1) * r.bits; size > uint(len(text)) {
				return errRuns
			}
			r.left, r.packed, r.from = int(head>>1)*8, text, 0
			r.text = text[size:]
			continue
		}
		if size > uint(len(text)) {
			return errRuns
		}
		r.value = 0
		for i, b := range text[:size] {
			r.value |= uint32(b) << (8 * i)
		}
		if r.bits < 32 && r.value>>r.bits != 0 {
			return errors.New("found a run of a number with too many bits")
		}
		r.left, r.packed, r.text = int(head>>1), nil, text[size:]
	}
	return nil
}

// take fills dst with the next numbers.
func (r *runs) take(dst []uint32) error {
	for len(dst) > 0 {
		if err := r.next(); err != nil {
			return err
		}
		n := min(len(dst), r.left)
		if r.packed != nil {
			unpack(dst[:n], r.packed, r.from, r.bits)
			r.from += n
		} else {
			for i := range dst[:n] {
				dst[i] = r.value
			}
		}
		r.left -= n
		dst = dst[n:]
	}
	return nil
}

// skipOnes skips n numbers if the current run repeats 1 so often. It reports whether it skipped them.
func (r *runs) skipOnes(n int) bool {
	if err := r.next(); err != nil || r.packed != nil || r.value != 1 || r.left < n {
		return false
	}
	r.left -= n
	return true
}

// levels decodes the next numbers, of one bit, and returns their sum. It may leave buf unset if the sum is 0
// or len(buf).
func (r *runs) levels(buf []byte) (ones int, err error) {
	if err := r.next(); err != nil {
		return 0, err
	}
	if n := len(buf); r.packed == nil && r.left >= n {
		r.left -= n
		return n * int(r.value), nil
	}
	for len(buf) > 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
		n := min(len(buf), r.left)
		if r.packed != nil {
			ones += spreadBits(buf[:n], r.packed, r.from)
			r.from += n
		} else {
			for i := range buf[:n] {
				buf[i] = byte(r.value)
			}
			ones += n * int(r.value)
		}
		r.left -= n
		buf = buf[n:]
	}
	return ones, nil
}

// unpack writes packed numbers to dst, beginning with the number at index from. Each number has width bits.
func unpack(dst []uint32, text []byte, from int, width uint) {
	mask := uint64(1)<<width - 1
	at, i := uint(from)*width, 0
	if 4*width+7 <= 64 { // a word contains four numbers
		for ; i+4 <= len(dst) && at>>3+8 <= uint(len(text)); i += 4 {
			word := binary.LittleEndian.Uint64(text[at>>3:]) >> (at & 7)
			d := (*[4]uint32)(dst[i:])
			d[0], d[1], d[2], d[3] = uint32(word&mask), uint32(word>>width&mask), uint32(word>>(2*width)&mask), uint32(word>>(3*width)&mask)
			at += 4 * width
		}
	}
	for ; i < len(dst) && at>>3+8 <= uint(len(text)); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(text[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	for ; i < len(dst); i++ {
		word := uint64(0)
		for k, b := range text[at>>3 : (at+width+7)>>3] {
			word |= uint64(b) << (8 * k)
		}
		dst[i] = uint32(word >> (at & 7) & mask)
		at += width
	}
}

// spreadBits writes each bit of text, beginning with the bit at index from, to a byte of dst. It returns the
// number of ones.
func spreadBits(dst, text []byte, from int) (ones int) {
	i := 0
	if from&7 == 0 {
		for ; i+8 <= len(dst); i += 8 {
			b := text[(from+i)>>3]
			ones += bits.OnesCount8(b)
			// Byte k of word keeps bit k of b. The sum carries that bit to bit 7, and the shift moves it to
			// bit 0.
			word := uint64(b) * 0x0101010101010101 & 0x8040201008040201
			binary.LittleEndian.PutUint64(dst[i:], (word+0x7f7f7f7f7f7f7f7f)>>7&0x0101010101010101)
		}
	}
	for ; i < len(dst); i++ {
		dst[i] = text[(from+i)>>3] >> ((from + i) & 7) & 1
		ones += int(dst[i])
	}
	return ones
}

// appendRuns appends the encoding of numbers. Each number has width bits.
func appendRuns(b []byte, numbers []uint32, width uint) []byte {
	for i := 0; i < len(numbers); {
		n := 1
		for i+n < len(numbers) && numbers[i+n] == numbers[i] {
			n++
		}
		if n >= 8 || i+n == len(numbers) {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for k := uint(0); k < width; k += 8 {
				b = append(b, byte(numbers[i]>>k))
			}
			i += n
			continue
		}
		from := i
		for i < len(numbers) && !allSame(numbers[i:min(i+8, len(numbers))]) {
			i += 8
		}
		b = appendPacked(b, numbers[from:min(i, len(numbers))], width)
	}
	return b
}

// allSame reports whether numbers are eight equal numbers.
func allSame(numbers []uint32) bool {
	for _, v := range numbers {
		if v != numbers[0] {
			return false
		}
	}
	return len(numbers) == 8
}

// appendPacked appends packed groups of eight numbers. Zeros fill the last group.
func appendPacked(b []byte, numbers []uint32, width uint) []byte {
	groups := (len(numbers) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	word, have := uint64(0), uint(0)
	for i := range 8 * groups {
		if i < len(numbers) {
			word |= uint64(numbers[i]) << have
		}
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	return b
}
