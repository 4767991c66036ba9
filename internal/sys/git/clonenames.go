package git

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// clonedNames stores the user's refs in the private clone, with their history.
type clonedNames struct {
	mu   sync.Mutex // guards the fields below
	said string     // the user's refs at the last update
	all  []Name     // the parsed refs
}

// namesBelow is the prefix under which the private clone stores the user's refs: refs/heads/x is
// refs/names/heads/x there.
const namesBelow = "refs/names/"

// Names returns the user's current branches, remote branches and tags, and fetches their history.
// If fetching fails, as in a repository with missing objects, refs are left out whose object is
// not in the private clone.
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
			if c.bringNames(ctx) == nil { // on failure, missing refs are left out
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

// bringNames fetches the history of the user's refs.
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

// namesWithObjects returns the refs whose objects are in the private clone. A fetched object has
// its complete history.
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
		there[strings.TrimSuffix(line, "\n")] = true // the line of a missing object has another form
	}
	var all []Name
	for _, n := range names {
		if there[n.ID] {
			all = append(all, n)
		}
	}
	return all, nil
}
