package agent

import (
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// StoreMessage stores a message and returns its hash.
func StoreMessage(s MessageStore, m llm.Message) (hash string, err error) {
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encode message: %w", err)
	}
	if hash, err = s.Put(data); err != nil {
		return "", fmt.Errorf("keep message: %w", err)
	}
	return hash, nil
}

// StoreManifest stores the items of a prompt and returns their hash, or "" if there are none.
func StoreManifest(s MessageStore, items []nexus.PromptManifestItem) (hash string, err error) {
	if len(items) == 0 {
		return "", nil
	}
	data, err := json.Marshal(items)
	if err != nil {
		return "", fmt.Errorf("record what the prompt contains: %w", err)
	}
	if hash, err = s.Put(data); err != nil {
		return "", fmt.Errorf("store the record of what the prompt contains: %w", err)
	}
	return hash, nil
}
