package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
)

// ResultStore stores results that are too long for the model. An agent reads them by their hash,
// also after the process that stored them died.
type ResultStore interface {
	Put(data []byte) (hash string, err error)
	Get(hash string) ([]byte, error)
}

// handle begins the path of a stored result; the hash follows.
const handle = "@"

// textOfHandle returns the text of a handle, and whether the path is one.
func (e AgentToolEnvironment) textOfHandle(path string) (text string, ok bool, err error) {
	hash, ok := strings.CutPrefix(path, handle)
	if !ok || len(hash) != 2*sha256.Size || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", false, nil
	}
	data, err := e.Blob.Get(hash)
	if err != nil {
		return "", true, fmt.Errorf("%s is no longer stored; run the command again", path)
	}
	return string(data), true, nil
}

// truncateResult cuts a result to the size for the model, and stores the whole.
func (s *ToolSet) truncateResult(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	more := ""
	if hash, err := s.env.Blob.Put([]byte(text)); err == nil {
		more = "all of it: read_file or search_code with path " + handle + hash
	}
	return cutMiddle(text, most, more)
}

// StoreData stores a text that is not shown to the model, and returns its handle, or "" on failure.
func (s *ToolSet) StoreData(data []byte) string {
	hash, err := s.env.Blob.Put(data)
	if err != nil {
		return ""
	}
	return handle + hash
}

const memoryBytes = 16 << 20

// inMemoryResultStore stores the last long results of a session without a store.
type inMemoryResultStore struct {
	mu    sync.Mutex
	texts map[string][]byte
	order []string
	size  int
}

// Put implements [ResultStore].
func (m *inMemoryResultStore) Put(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, had := m.texts[hash]; had {
		return hash, nil
	}
	if m.texts == nil {
		m.texts = map[string][]byte{}
	}
	m.texts[hash], m.order, m.size = data, append(m.order, hash), m.size+len(data)
	for m.size > memoryBytes && len(m.order) > 1 {
		m.size -= len(m.texts[m.order[0]])
		delete(m.texts, m.order[0])
		m.order = m.order[1:]
	}
	return hash, nil
}

// Get implements [ResultStore].
func (m *inMemoryResultStore) Get(hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.texts[hash]
	if !ok {
		return nil, fmt.Errorf("no text %s", hash)
	}
	return data, nil
}
