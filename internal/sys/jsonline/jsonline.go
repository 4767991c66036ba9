// Package jsonline reads messages of one line each from an untrusted source.
package jsonline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrLong is returned for a line over the size limit. The line is skipped, and the next one can be
// read.
var ErrLong = errors.New("the message is too long")

// LineReader reads lines.
type LineReader struct {
	r    *bufio.Reader
	most int
	err  error
}

// NewLineReader returns a reader of lines with at most `most` bytes.
func NewLineReader(r io.Reader, most int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// Next returns the next non-empty line, without its line feed. It belongs to the caller. A line
// that is too long is discarded.
func (r *LineReader) Next() ([]byte, error) {
	for r.err == nil {
		var line []byte
		var long bool
		line, long, r.err = r.readLine()
		switch line = bytes.TrimSpace(line); {
		case long:
			return nil, ErrLong
		case len(line) > 0:
			return line, nil
		}
	}
	return nil, r.err
}

func (r *LineReader) readLine() (line []byte, long bool, err error) {
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
