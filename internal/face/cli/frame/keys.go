package frame

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/key"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// Keys returns where the keys of providers are kept.
func (a *App) Keys() key.Store {
	s := key.Store{Env: a.Env, Learn: a.Mask.Learn, Ring: key.Desktop(a.Env)}
	if dir := a.Home("XDG_CONFIG_HOME", ".config"); filepath.IsAbs(dir) {
		s.File = filepath.Join(dir, "nexus", "keys.toml")
	}
	return s
}

// Trust returns where it is kept what people agreed to.
func (a *App) Trust() *trust.Book {
	return trust.At(filepath.Join(a.Home("XDG_STATE_HOME", ".local/state"), "nexus"))
}

// Secret reads a line that must not be seen: from a terminal without showing
// it, or from what is piped in.
func (a *App) Secret(prompt string) (string, error) {
	if f, ok := a.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		_, _ = io.WriteString(a.Err, prompt)
		line, err := term.ReadPassword(int(f.Fd()))
		_, _ = io.WriteString(a.Err, "\n")
		if err != nil {
			return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the key", Cause: err, Hint: "Pipe it in instead."}
		}
		return strings.TrimSpace(string(line)), nil
	}
	line, err := bufio.NewReader(io.LimitReader(a.In, 64<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the key", Cause: err, Hint: "Pipe it into standard input."}
	}
	return strings.TrimSpace(line), nil
}
