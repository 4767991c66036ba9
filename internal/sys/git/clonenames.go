package git

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// clonedNames keeps the user's names in the private clone, with all that they stand on.
type clonedNames struct {
	mu   sync.Mutex // guards what follows
	said string     // of the user's repository, when it was asked last
	all  []Name     // as of then
}

// Below this the private clone keeps what it fetched of the user's names: refs/heads/x
// is refs/names/heads/x there.
const namesBelow = "refs/names/"

// Names returns the user's branches, remotes' branches and tags as they are now, and
// brings in what they stand on. Where git cannot, as in a repository that lacks
// objects, a name is left out whose object is not in the private clone.
func (c *Clone) Names(ctx context.Context) ([]Name, error) {
	said, err := c.user.listNames(ctx)
	if err != nil {
		return nil, err
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if said == c.names.said {
		return c.names.all, nil
	}
	all := parseNames(said)
	names, err := c.namesWithObjects(ctx, all)
	if err == nil && len(names) < len(all) {
		err = disk.Lock(ctx, filepath.Join(filepath.Dir(c.git.Dir), "clone.lock"), func(ctx context.Context) error {
			if c.bringNames(ctx) == nil { // else what is missing is no name here
				names, err = c.namesWithObjects(ctx, all)
			}
			return err
		})
	}
	if err == nil {
		c.names.said, c.names.all = said, names
	}
	return names, err
}

// bringNames fetches what the user's names stand on.
func (c *Clone) bringNames(ctx context.Context) error {
	from, err := c.user.Common(ctx)
	if err != nil {
		return err
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-write-commit-graph", "--prune", "--upload-pack=git-upload-pack", "--end-of-options", from,
	}
	for _, kind := range []string{"heads", "remotes", "tags"} {
		args = append(args, "+refs/"+kind+"/*:"+namesBelow+kind+"/*")
	}
	_, err = c.git.Run(ctx, args...)
	return err
}

// namesWithObjects returns the names whose objects are in the private clone. What was brought in
// has all that it stands on.
func (c *Clone) namesWithObjects(ctx context.Context, names []Name) ([]Name, error) {
	var in strings.Builder
	for _, n := range names {
		in.WriteString(n.ID + "\n")
	}
	out, err := c.git.RunIn(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for line := range strings.Lines(out) {
		there[strings.TrimSuffix(line, "\n")] = true // of one that is missing the line says so
	}
	var all []Name
	for _, n := range names {
		if there[n.ID] {
			all = append(all, n)
		}
	}
	return all, nil
}
