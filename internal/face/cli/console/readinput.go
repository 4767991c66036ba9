package console

import (
	"io"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxInput limits what is read of a file that a command line names, above the size of every goal or
// plan.
const maxInput = 16 << 20

// ReadInput reads a file that a command line names, or standard input for "-".
func (a *Console) ReadInput(path string) ([]byte, error) {
	in := a.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, &nexus.Error{
				Code: nexus.CodeNotFound, Message: "read " + view.QuoteForTerminal(path), Cause: err,
				Hint: "Give a file that exists and is readable.",
			}
		}
		defer func() { _ = f.Close() }() // read-only
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "read " + view.QuoteForTerminal(path), Cause: err,
			Hint: "Give a readable file.",
		}
	}
	return data, nil
}
