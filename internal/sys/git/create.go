package git

import (
	"context"
	"fmt"
	"path/filepath"
)

// Create makes a repository of the files in dir, with one commit on the
// branch main.
func Create(ctx context.Context, dir string, by Identity, message string) error {
	r := Repo{Dir: filepath.Join(dir, ".git"), Work: dir, Env: by.env()}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "--template=", dir},
		{"add", "-A"},
		{"commit", "--quiet", "-m", message},
	} {
		if _, err := r.Run(ctx, args...); err != nil {
			return fmt.Errorf("make a repository: %w", err)
		}
	}
	return nil
}
