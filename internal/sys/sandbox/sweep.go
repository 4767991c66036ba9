package sandbox

import "github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"

// Sweep kills every process of this user that carries a mark of owner, as a
// process of its own that was killed may have left them, and says how many.
func Sweep(owner string) (int, error) { return proc.Sweep(owner) }

// Left returns how many processes an owner has that [Sweep] would kill.
func Left(owner string) int { return proc.Left(owner) }
