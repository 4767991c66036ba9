package notify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Result is the result of one try to send a message.
type Result string

// The results.
const (
	Sent    Result = "sent"
	Failed  Result = "failed"  // it is tried again
	Refused Result = "refused" // it is not tried again
)

// Entry is a line of the delivery log.
type Entry struct {
	At      time.Time `json:"at"`
	Way     string    `json:"way"`
	Result  Result    `json:"result"`
	Try     int       `json:"try"` // from 1
	ID      string    `json:"id"`  // of the message
	Notices []string  `json:"notices"`
	Title   string    `json:"title"`
	Why     string    `json:"why,omitzero"`
	Seconds float64   `json:"seconds"`
}

// maxLog is the size of the log, in bytes, above which it is rotated. One old log is kept.
const maxLog = 1 << 20

func logFile(dir string) string { return filepath.Join(dir, "log.jsonl") }

// appendEntry appends to the log of a directory.
func appendEntry(dir string, e Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file := logFile(dir)
	if info, err := os.Stat(file); err == nil && info.Size() > maxLog {
		if err := os.Rename(file, file+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.WrapError("set the delivery log aside", err)
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return disk.WrapError("write the delivery log", err)
	}
	_, err = f.Write(append(data, '\n'))
	return disk.WrapError("write the delivery log", errors.Join(err, f.Close()))
}

// ReadLog returns the last tries in a directory's log, the oldest first: up to most of them, of
// one channel if way is not empty. Unreadable lines are skipped.
func ReadLog(dir, way string, most int) ([]Entry, error) {
	var all []Entry
	for _, file := range []string{logFile(dir) + ".1", logFile(dir)} {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, disk.WrapError("read the delivery log", err)
		}
		all = append(all, parseLog(data)...)
	}
	all = slices.DeleteFunc(all, func(e Entry) bool { return way != "" && e.Way != way })
	return all[max(0, len(all)-most):], nil
}

func parseLog(data []byte) []Entry {
	var all []Entry
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, maxLog)
	for s.Scan() {
		var e Entry
		if json.Unmarshal(s.Bytes(), &e) == nil && e.Way != "" {
			all = append(all, e)
		}
	}
	return all
}
