// Package jsonline reads messages that are a line each, from somebody who may send
// anything.
package jsonline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrLong says that a line is longer than is read. It is left out, and the next
// one can be read.
var ErrLong = errors.New("the message is too long")

// Reader reads lines.
type Reader struct {
	r    *bufio.Reader
	most int
	err  error
}

// NewReader returns a reader of lines of at most so many bytes.
func NewReader(r io.Reader, most int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// Next returns the next line that is not empty, without its end. It belongs to
// the caller. Of one that is too long, nothing is kept.
func (r *Reader) Next() ([]byte, error) {
	for r.err == nil {
		var line []byte
		var long bool
		line, long, r.err = r.line()
		switch line = bytes.TrimSpace(line); {
		case long:
			return nil, ErrLong
		case len(line) > 0:
			return line, nil
		}
	}
	return nil, r.err
}

func (r *Reader) line() (line []byte, long bool, err error) {
	for {
		part, err := r.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > r.most; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
