package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const maxScan = 64 << 20 // bytes of a file that read_file looks through

func readFile(e Env) Tool {
	return Tool{
		Name:        "read_file",
		Description: "Read a text file. Long files are cut: read on with offset (first line, from 1) and limit (lines).",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1}},` +
			`"required":["path"],"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(_ context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct {
				Path   string
				Offset int
				Limit  int
			}](input)
			if err != nil {
				return Output{}, err
			}
			name, err := e.clean(in.Path, false)
			if err != nil {
				return Output{}, err
			}
			text, err := e.read(name, max(in.Offset, 1), in.Limit)
			return Output{Text: text}, err
		},
	}
}

// read returns lines of a file, with a note where there are more.
func (e Env) read(name string, first, limit int) (string, error) {
	f, info, err := e.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxFile { // too much for the memory, and so for an edit
		r := bufio.NewReaderSize(io.LimitReader(f, maxScan), 64<<10)
		if begin, _ := r.Peek(8 << 10); bytes.IndexByte(begin, 0) >= 0 {
			return "", fmt.Errorf("%s is a binary file of %d bytes", name, info.Size())
		}
		return page(name, r, first, limit)
	}
	d, err := e.load(name)
	if err != nil {
		return "", err
	}
	e.seen.keep(name, d.text)
	if d.text == "" {
		return "[the file is empty]", nil
	}
	text, err := page(name, bufio.NewReader(strings.NewReader(d.text)), first, limit)
	if note := d.form.String(); note != "" && err == nil {
		text = strings.TrimSuffix(text, "\n") + fmt.Sprintf("\n[%s: kept when you write]", note)
	}
	return text, err
}

// page returns lines of a text, with a note where there are more.
func page(name string, r *bufio.Reader, first, limit int) (string, error) {
	var b strings.Builder
	n, last := 0, 0
	for {
		text, err := r.ReadString('\n')
		if text != "" {
			n++
		}
		wanted := n >= first && (limit == 0 || n < first+limit)
		if wanted && text != "" && b.Len()+len(text) <= maxResult-200 {
			b.WriteString(text)
			last = n
		} else if wanted && last < first && text != "" {
			b.WriteString(text[:min(len(text), maxResult-200)] + "\n[line cut]")
			last = n
			limit = 1
		} else if wanted && text != "" {
			limit = last - first + 1 // full
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	if last == 0 {
		return "", fmt.Errorf("%s has only %d lines", name, n)
	}
	if last < n {
		fmt.Fprintf(&b, "\n[lines %d-%d of %d; go on with offset %d]", first, last, n, last+1)
	}
	return b.String(), nil
}
