package projection

import (
	"iter"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func nothing(int64) iter.Seq2[nexus.Event, error] {
	return func(func(nexus.Event, error) bool) {}
}
