package git

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// clonedRefCache stores the user's refs in the private clone, with their history.
type clonedRefCache struct {
	mu   sync.Mutex // guards the fields below
	said string     // the user's refs at the last update
	all  []NamedRef // the parsed refs
}

// namesPrefix is the prefix under which the private clone stores the user's refs: refs/heads/x is
// refs/names/heads/x there.
const namesPrefix = "refs/names/"

// ImportNamedRefs returns the user's current branches, remote branches and tags, and fetches their history.
// If fetching fails, as in a repository with missing objects, refs are left out whose object is
// not in the private clone.
func (c *PrivateClone) ImportNamedRefs(ctx context.Context) ([]NamedRef, error) {
	said, err := c.user.listFileNames(ctx)
	if err != nil {
		return nil, err
	}
	c.refs.mu.Lock()
	defer c.refs.mu.Unlock()
	if said == c.refs.said {
		return c.refs.all, nil
	}
	all := parseNamedRefs(said)
	names, err := c.namedRefsWithObjects(ctx, all)
	if err == nil && len(names) < len(all) {
		err = filewrite.WithLock(ctx, filepath.Join(filepath.Dir(c.git.Dir), "clone.lock"), func(ctx context.Context) error {
			if c.fetchNamedRefs(ctx) == nil { // on failure, missing refs are left out
				names, err = c.namedRefsWithObjects(ctx, all)
			}
			return err
		})
	}
	if err == nil {
		c.refs.said, c.refs.all = said, names
	}
	return names, err
}

// fetchNamedRefs fetches the history of the user's refs.
func (c *PrivateClone) fetchNamedRefs(ctx context.Context) error {
	from, err := c.user.CommonDir(ctx)
	if err != nil {
		return err
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-write-commit-graph", "--prune", "--upload-pack=git-upload-pack", "--end-of-options", from,
	}
	for _, kind := range []string{"heads", "remotes", "tags"} {
		args = append(args, "+refs/"+kind+"/*:"+namesPrefix+kind+"/*")
	}
	_, err = c.git.Run(ctx, args...)
	return err
}

// namedRefsWithObjects returns the refs whose objects are in the private clone. A fetched object has
// its complete history.
func (c *PrivateClone) namedRefsWithObjects(ctx context.Context, names []NamedRef) ([]NamedRef, error) {
	var in strings.Builder
	for _, n := range names {
		in.WriteString(n.ID + "\n")
	}
	out, err := c.git.RunWithInput(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for line := range strings.Lines(out) {
		there[strings.TrimSuffix(line, "\n")] = true // the line of a missing object has another form
	}
	var all []NamedRef
	for _, n := range names {
		if there[n.ID] {
			all = append(all, n)
		}
	}
	return all, nil
}
