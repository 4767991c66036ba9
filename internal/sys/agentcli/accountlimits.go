package agentcli

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

const (
	maxTail = 256 << 10 // bytes read at the end of a record
	maxDays = 1000      // entries read of a directory of records
)

// AccountLimits returns the usage of the account's windows, for programs that write it to their home and
// not to their stream: Codex writes it to the record of a conversation. Any process that ran in
// the home may have written the record.
func (p CLIAgentProgram) AccountLimits(home string) []stream.AgentEvent {
	if p.Speaks != "codex" {
		return nil
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only read
	data := readTail(root, newestRecord(root, ".codex/sessions", 4))
	lines := bytes.Split(data, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if found := stream.ReadCodexLimits(line); len(found) > 0 {
			return found
		}
	}
	return nil
}

// newestRecord returns the latest record below a directory. Records are named by their time.
func newestRecord(root *os.Root, dir string, depth int) string {
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return ""
	}
	all, _ := f.ReadDir(maxDays) // partial results count
	_ = f.Close()
	slices.SortStableFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(b.Name(), a.Name()) })
	for _, e := range all {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && depth > 0:
			if found := newestRecord(root, name, depth-1); found != "" {
				return found
			}
		case e.Type().IsRegular() && strings.HasPrefix(e.Name(), "rollout-") && strings.HasSuffix(e.Name(), ".jsonl"):
			return name
		}
	}
	return ""
}

// readTail returns the last bytes of a regular file, and nothing for anything else.
func readTail(root *os.Root, name string) []byte {
	if name == "" {
		return nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxTail), maxTail))
	if err != nil {
		return nil
	}
	return data
}
