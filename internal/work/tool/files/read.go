package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

const maxScan = 64 << 20 // bytes of a file that read_file scans

// Read returns lines of a file, with a note if there are more.
func (t *AgentTree) Read(name string, first, limit int) (string, error) {
	return t.Show(name, LineSelection{First: first, Limit: limit})
}

// LineSelection selects lines of a text.
type LineSelection struct {
	First    int  // first line, from 1
	Limit    int  // number of lines; 0 means all
	Numbered bool // each begins with its number and a tab
}

// Show is Read with optional line numbers.
func (t *AgentTree) Show(name string, l LineSelection) (string, error) {
	f, info, err := t.openReadableFile(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxFile { // too large for memory, and so for an edit
		r := bufio.NewReaderSize(io.LimitReader(f, maxScan), 64<<10)
		if begin, _ := r.Peek(8 << 10); bytes.IndexByte(begin, 0) >= 0 {
			return "", fmt.Errorf("%s is a binary file of %d bytes", name, info.Size())
		}
		return FormatPage(name, r, l)
	}
	d, err := t.loadTextFile(name)
	if err != nil {
		return "", err
	}
	t.seen.rememberVersion(name, d.text)
	if d.text == "" {
		return "[the file is empty]", nil
	}
	text, err := FormatPage(name, bufio.NewReader(strings.NewReader(d.text)), l)
	if note := d.form.String(); note != "" && err == nil {
		text = strings.TrimSuffix(text, "\n") + fmt.Sprintf("\n[%s: kept when you write]", note)
	}
	return text, err
}

// FormatPage returns lines of a text, with a note if there are more.
func FormatPage(name string, r *bufio.Reader, l LineSelection) (string, error) {
	var b strings.Builder
	n, last, first, limit := 0, 0, l.First, l.Limit
	for {
		text, err := r.ReadString('\n')
		if text != "" {
			n++
		}
		if l.Numbered && text != "" {
			text = fmt.Sprintf("%d\t%s", n, text)
		}
		wanted := n >= first && (limit == 0 || n < first+limit)
		if wanted && text != "" && b.Len()+len(text) <= MaxAnswer-200 {
			b.WriteString(text)
			last = n
		} else if wanted && last < first && text != "" {
			b.WriteString(text[:min(len(text), MaxAnswer-200)] + "\n[line cut]")
			last = n
			limit = 1
		} else if wanted && text != "" {
			limit = last - first + 1 // the limit is reached
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
		fmt.Fprintf(&b, "\n[lines %d-%d of %d; continue with offset %d]", first, last, n, last+1)
	}
	return b.String(), nil
}
