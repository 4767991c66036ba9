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

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// DeliveryResult is the result of one try to send a message.
type DeliveryResult string

// The results.
const (
	Sent    DeliveryResult = "sent"
	Failed  DeliveryResult = "failed"  // it is tried again
	Refused DeliveryResult = "refused" // it is not tried again
)

// DeliveryLogEntry is a line of the delivery log.
type DeliveryLogEntry struct {
	At      time.Time      `json:"at"`
	Way     string         `json:"way"`
	Result  DeliveryResult `json:"result"`
	Try     int            `json:"try"` // from 1
	ID      string         `json:"id"`  // of the message
	Notices []string       `json:"notices"`
	Title   string         `json:"title"`
	Why     string         `json:"why,omitzero"`
	Seconds float64        `json:"seconds"`
}

// maxLog is the size of the log, in bytes, above which it is rotated. One old log is kept.
const maxLog = 1 << 20

func logFile(dir string) string { return filepath.Join(dir, "log.jsonl") }

// appendLogEntry appends to the log of a directory.
func appendLogEntry(dir string, e DeliveryLogEntry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file := logFile(dir)
	if info, err := os.Stat(file); err == nil && info.Size() > maxLog {
		if err := os.Rename(file, file+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return filewrite.WrapError("set the delivery log aside", err)
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return filewrite.WrapError("write the delivery log", err)
	}
	_, err = f.Write(append(data, '\n'))
	return filewrite.WrapError("write the delivery log", errors.Join(err, f.Close()))
}

// ReadLog returns the last tries in a directory's log, the oldest first: up to most of them, of
// one channel if way is not empty. Unreadable lines are skipped.
func ReadLog(dir, way string, most int) ([]DeliveryLogEntry, error) {
	var all []DeliveryLogEntry
	for _, file := range []string{logFile(dir) + ".1", logFile(dir)} {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, filewrite.WrapError("read the delivery log", err)
		}
		all = append(all, parseLog(data)...)
	}
	all = slices.DeleteFunc(all, func(e DeliveryLogEntry) bool { return way != "" && e.Way != way })
	return all[max(0, len(all)-most):], nil
}

func parseLog(data []byte) []DeliveryLogEntry {
	var all []DeliveryLogEntry
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, maxLog)
	for s.Scan() {
		var e DeliveryLogEntry
		if json.Unmarshal(s.Bytes(), &e) == nil && e.Way != "" {
			all = append(all, e)
		}
	}
	return all
}
