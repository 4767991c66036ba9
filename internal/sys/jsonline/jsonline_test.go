package jsonline

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	r := NewLineReader(iotest.HalfReader(strings.NewReader("a\r\n\n  \n"+long+"\nb\n"+long)), 100<<10)
	for _, want := range []string{"a", "!", "b", "!"} {
		line, err := r.Next()
		if got := string(line); want == "!" && !errors.Is(err, ErrLong) || want != "!" && (got != want || err != nil) {
			t.Fatalf("%.10q %v, want %s", line, err, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	r = NewLineReader(strings.NewReader("last"), 4)
	if line, err := r.Next(); string(line) != "last" || err != nil {
		t.Errorf("%q %v", line, err)
	}
}
