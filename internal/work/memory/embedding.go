package memory

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/textembedding"
)

// EmbeddingIndex finds episodes by the meaning of their texts. Vectors are stored by the hash
// of the text, so that each text is sent to the endpoint once. If the endpoint fails, this
// search finds nothing, people are notified once, and the endpoint is not called for the rest
// of the process.
type EmbeddingIndex struct {
	Endpoint textembedding.EmbeddingEndpoint
	File     string      // file of the vectors; an unreadable file is replaced
	Say      func(error) // reports errors to people

	mu     sync.Mutex // guards the fields below
	failed bool
	known  map[string][]float32 // vectors by [EmbeddingIndex.vectorKey]
	fresh  bool                 // some are not stored yet
}

// entrySimilarities returns how similar each episode is to a text in meaning, from 0 to 1.
func (m *EmbeddingIndex) entrySimilarities(ctx context.Context, all []StoredMemoryEntry, text string) map[string]float64 {
	if m == nil || len(all) == 0 || strings.TrimSpace(text) == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed {
		return nil
	}
	found, err := m.vectorSimilarities(ctx, all, text)
	if err != nil && ctx.Err() == nil {
		m.failed = true
		if m.Say != nil {
			m.Say(&nexus.Error{
				Code: nexus.CodeProvider, Message: "the memory is searched by words only: " + err.Error(),
				Hint: "Start the endpoint, or correct memory.embed.url and memory.embed.model; without them, nothing is asked.",
			})
		}
	}
	return found
}

func (m *EmbeddingIndex) vectorSimilarities(ctx context.Context, all []StoredMemoryEntry, text string) (map[string]float64, error) {
	if m.known == nil {
		m.known = m.loadVectors()
	}
	asked, err := m.textVectors(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(all))
	for i, k := range all {
		texts[i] = k.Text
		if old := m.known[m.vectorKey(k.Text)]; len(old) > 0 && len(old) != len(asked[0]) {
			delete(m.known, m.vectorKey(k.Text)) // the endpoint now has another model of that name
		}
	}
	m.fresh = false
	of, err := m.textVectors(ctx, texts)
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	for i, k := range all {
		if len(of[i]) != len(asked[0]) {
			return nil, fmt.Errorf("%s gives vectors of %d and of %d numbers", m.Endpoint.URL, len(asked[0]), len(of[i]))
		}
		found[k.ID] = max(0, textembedding.CosineSimilarity(asked[0], of[i]))
	}
	if m.fresh {
		err = m.writeVectors(texts)
	}
	return found, err
}

// textVectors returns the vectors of texts, and requests the unknown ones.
func (m *EmbeddingIndex) textVectors(ctx context.Context, texts []string) ([][]float32, error) {
	var open []string
	seen := map[string]bool{}
	for _, t := range texts {
		if key := m.vectorKey(t); m.known[key] == nil && !seen[key] {
			seen[key] = true
			open = append(open, t)
		}
	}
	if len(open) > 0 {
		got, err := m.Endpoint.EmbedTexts(ctx, open)
		if err != nil {
			return nil, err
		}
		for i, t := range open {
			m.known[m.vectorKey(t)] = got[i]
		}
		m.fresh = true
	}
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i] = m.known[m.vectorKey(t)]
	}
	return all, nil
}

// vectorKey returns a key of a text and the model of its vector.
func (m *EmbeddingIndex) vectorKey(text string) string {
	sum := sha256.Sum256([]byte(m.Endpoint.URL + "\x00" + m.Endpoint.Model + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

// loadVectors reads the stored vectors. A missing or damaged file has none.
func (m *EmbeddingIndex) loadVectors() map[string][]float32 {
	all := map[string][]float32{}
	var kept map[string]string
	data, err := os.ReadFile(m.File)
	if err != nil || json.Unmarshal(data, &kept) != nil {
		return all
	}
	for key, text := range kept {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && len(raw) > 0 && len(raw)%4 == 0 {
			v := make([]float32, len(raw)/4)
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
			all[key] = v
		}
	}
	return all
}

// writeVectors stores the vectors of some texts, and removes all others from the file.
func (m *EmbeddingIndex) writeVectors(texts []string) error {
	kept := map[string]string{}
	for _, t := range texts {
		key := m.vectorKey(t)
		raw := make([]byte, 0, 4*len(m.known[key]))
		for _, x := range m.known[key] {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		kept[key] = base64.StdEncoding.EncodeToString(raw)
	}
	data, err := json.Marshal(kept)
	return errors.Join(err, filewrite.ReplaceFile(m.File, data))
}
