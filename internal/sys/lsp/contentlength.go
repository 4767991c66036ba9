package lsp

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// readContentLength reads the headers of a message, and returns its length. Lines that are no headers, such
// as a banner of the server, are skipped.
func readContentLength(from *bufio.Reader) (int, error) {
	found, read := -1, 0
	for {
		line, err := from.ReadSlice('\n')
		if read += len(line); read > maxHead || errors.Is(err, bufio.ErrBufferFull) {
			return 0, errors.New("it sends something that is not a message")
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		name, value, ok := strings.Cut(text, ":")
		switch {
		case text == "" && found >= 0:
			return found, nil
		case ok && strings.EqualFold(name, "Content-Length"):
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 0 || n > maxMessage {
				return 0, fmt.Errorf("it announces a message that is longer than %d bytes", maxMessage)
			}
			found = n
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
