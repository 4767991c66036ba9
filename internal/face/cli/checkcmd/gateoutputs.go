package checkcmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gateOutputs stores the output of gates, and their evidence before the comparison with a base, by
// hash. One goroutine uses it.
type gateOutputs map[string][]byte

// Put stores a text and returns its hash.
func (m gateOutputs) Put(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	m[name] = data
	return name, nil
}

// Get returns the text with a hash.
func (m gateOutputs) Get(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, &nexus.Error{Code: nexus.CodeNotFound, Message: "no output " + name + " is stored", Hint: "Run the gate again."}
}

// uncomparedEvidence returns evidence as it was before the comparison with a base.
func (m gateOutputs) uncomparedEvidence(e nexus.GateEvidence) nexus.GateEvidence {
	var raw nexus.GateEvidence
	if json.Unmarshal(m[e.Raw], &raw) == nil && raw.Gate == e.Gate {
		return raw
	}
	return e
}

// plainOutput removes references from evidence that are invalid after the command has ended.
func plainOutput(all []nexus.GateEvidence) []nexus.GateEvidence {
	for i := range all {
		all[i].Raw, all[i].Output, all[i].All = "", "", ""
	}
	return all
}
