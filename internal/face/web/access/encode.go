package access

import (
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Encode writes a value as JSON that is harmless wherever it is shown: what a
// screen would not show as it is, or that a browser could read as HTML, is
// escaped. It stays the same value.
func Encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return sanitize.JSON(data), nil
}
