package journalmaintenance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// exportMasker masks everything that leaves the machine. The name of data is the hash of its
// content, so masked data has another name, and events get that name.
type exportMasker struct {
	blobs   *journal.BlobStore
	mask    func([]byte) []byte
	renamed map[string]string // hash of the masked data, by the original hash
}

// findMasked reads all data that events name, and determines which of it is masked.
func (c exportMasker) findMasked(named []string, m *RunTransferSummary) error {
	for _, hash := range named {
		data, err := c.blobs.Get(hash)
		if err != nil {
			m.Absent++
			continue
		}
		m.Blobs++
		if masked := c.mask(data); !bytes.Equal(masked, data) {
			sum := sha256.Sum256(masked)
			c.renamed[hash] = hex.EncodeToString(sum[:])
		}
	}
	return nil
}

// maskedName returns the name of data in the file.
func (c exportMasker) maskedName(hash string) string {
	if to, ok := c.renamed[hash]; ok {
		return to
	}
	return hash
}

// maskEvent returns an event as it is in the file.
func (c exportMasker) maskEvent(data []byte) ([]byte, error) {
	for from, to := range c.renamed {
		data = bytes.ReplaceAll(data, []byte(from), []byte(to))
	}
	data = c.mask(data)
	if !json.Valid(data) {
		return nil, errors.New("an event cannot be masked")
	}
	return data, nil
}
