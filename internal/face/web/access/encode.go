package access

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// EncodeSafeJSON writes a value as JSON that is safe to show anywhere: invisible characters, and
// characters that a browser could read as HTML, are escaped. The value stays the same.
func EncodeSafeJSON(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return sanitize.EscapeJSON(data), nil
}
