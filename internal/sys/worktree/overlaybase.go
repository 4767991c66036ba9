package worktree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// writtenCheckout is the known state of written files.
type writtenCheckout struct {
	Tree       string // the written tree
	Index      git.Index
	Since      int64 // time of writing; see [treeChangeFinder.Since]
	Attributes bool  // there is a .gitattributes, so files may differ from the stored objects
}

// readCheckoutState returns the state of a tree's files from an index file.
func readCheckoutState(file, tree string, since int64, size int) (writtenCheckout, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return writtenCheckout{}, filewrite.WrapError("read an index", err)
	}
	g := writtenCheckout{Tree: tree, Since: since}
	if g.Index, err = git.ParseIndex(data, size); err != nil {
		return writtenCheckout{}, filewrite.WrapError("read an index", err)
	}
	for _, e := range g.Index {
		g.Attributes = g.Attributes || isAttributesFile(e.Path)
	}
	return g, nil
}

// isAttributesFile reports whether a file defines attributes of others.
func isAttributesFile(p string) bool {
	return strings.HasSuffix(p, ".gitattributes") && path.Base(p) == ".gitattributes"
}

// gitFileText is the content of the .git file that points to the git directory beside the files.
const gitFileText = "gitdir: ../git\n"

// CheckoutTree writes the files of a tree of r to dir, with the content of LFS files, and an index for
// them, using git. It returns the time at which the files had this state.
func CheckoutTree(ctx context.Context, r git.Repo, tree, dir, index string) (int64, error) {
	r.Work, r.Index = dir, index
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, filewrite.WrapError("make a worktree", err)
	}
	if _, err := r.Run(ctx, "read-tree", tree); err != nil {
		return 0, err
	}
	if _, err := r.Run(ctx, "checkout-index", "-a", "-u", "-f", "-q"); err != nil {
		return 0, err
	}
	if err := PlaceLFSContent(ctx, r, len(tree)/2); err != nil {
		return 0, err
	}
	if err := filewrite.WriteFile(filepath.Join(dir, ".git"), []byte(gitFileText)); err != nil {
		return 0, err
	}
	return fileClock(index + ".clock")
}

// overlayBaseCheckouts stores the files for overlays. It may be used by many goroutines and processes
// at once.
type overlayBaseCheckouts struct {
	Dir  string
	Repo git.Repo // repository of the trees
	Size int      // of an object name

	mu      sync.Mutex                 // guards grounds
	grounds map[string]writtenCheckout // known states, by tree
}

// maxNearChanges limits the different files between a tree and the shared files below its overlay.
const maxNearChanges = 500

// maxNearCandidates is the number of existing checkouts that are compared.
const maxNearCandidates = 3

// checkoutPath returns a path of a tree's checkout: "tree", "index", or "" for its directory.
func (s *overlayBaseCheckouts) checkoutPath(tree, name string) string {
	return filepath.Join(s.Dir, tree, name)
}

// checkoutForOverlay returns shared files for a tree's overlay: its own, or similar ones, or its own
// created now.
func (s *overlayBaseCheckouts) checkoutForOverlay(ctx context.Context, tree string) (writtenCheckout, error) {
	var g writtenCheckout
	err := filewrite.WithLock(ctx, s.Dir+".lock", func(ctx context.Context) error {
		near, err := s.nearestCheckedOutTree(ctx, tree)
		if err != nil {
			return err
		}
		g, err = s.ensureCheckout(ctx, cmp.Or(near, tree))
		return err
	})
	return g, err
}

// exactCheckout returns the files of exactly that tree.
func (s *overlayBaseCheckouts) exactCheckout(ctx context.Context, tree string) (writtenCheckout, error) {
	var g writtenCheckout
	err := filewrite.WithLock(ctx, s.Dir+".lock", func(ctx context.Context) (err error) {
		g, err = s.ensureCheckout(ctx, tree)
		return err
	})
	return g, err
}

// nearestCheckedOutTree returns a similar tree with a checkout, preferring newer ones, or "".
func (s *overlayBaseCheckouts) nearestCheckedOutTree(ctx context.Context, tree string) (string, error) {
	if s.isReady(tree) {
		return tree, nil
	}
	all, err := s.listTrees()
	if err != nil {
		return "", err
	}
	for _, l := range all[:min(len(all), maxNearCandidates)] {
		if !s.isReady(l) {
			continue
		}
		changes, err := s.Repo.ChangedFiles(ctx, l, tree)
		if err != nil {
			return "", err
		}
		if len(changes) <= maxNearChanges {
			return l, nil
		}
	}
	return "", nil
}

// listTrees lists the trees with a checkout, the newest first.
func (s *overlayBaseCheckouts) listTrees() ([]string, error) {
	list, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, filewrite.WrapError("read the shared files", err)
	}
	age := map[string]int64{}
	var all []string
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			all = append(all, e.Name())
			age[e.Name()] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(age[b], age[a]), cmp.Compare(a, b)) })
	return all, nil
}

// isReady reports whether shared files are complete and were created since the machine started:
// files from before a crash of the machine are not trusted.
func (s *overlayBaseCheckouts) isReady(tree string) bool {
	data, err := os.ReadFile(s.checkoutPath(tree, "ready"))
	if err != nil {
		return false
	}
	boot, _, ok := strings.Cut(string(data), " ")
	return ok && boot == bootID()
}

// ensureCheckout writes the shared files of a tree if they are missing.
func (s *overlayBaseCheckouts) ensureCheckout(ctx context.Context, tree string) (writtenCheckout, error) {
	if s.isReady(tree) {
		return s.ReadState(tree)
	}
	s.forgetTree(tree)
	dir := s.checkoutPath(tree, "")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return writtenCheckout{}, filewrite.WrapError("make the shared files", err)
	}
	since, err := CheckoutTree(ctx, s.Repo, tree, s.checkoutPath(tree, "tree"), s.checkoutPath(tree, "index"))
	if err != nil {
		return writtenCheckout{}, err
	}
	if err := filewrite.WriteFile(s.checkoutPath(tree, "ready"), []byte(bootID()+" "+strconv.FormatInt(since, 10))); err != nil {
		return writtenCheckout{}, err
	}
	return s.ReadState(tree)
}

// ReadState returns the state of shared files. It is read only once.
func (s *overlayBaseCheckouts) ReadState(tree string) (writtenCheckout, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.grounds[tree]; ok {
		return g, nil
	}
	data, err := os.ReadFile(s.checkoutPath(tree, "ready"))
	if err != nil {
		return writtenCheckout{}, filewrite.WrapError("read the shared files", err)
	}
	_, text, _ := strings.Cut(string(data), " ")
	since, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return writtenCheckout{}, filewrite.WrapError("read the shared files", err)
	}
	g, err := readCheckoutState(s.checkoutPath(tree, "index"), tree, since, s.Size)
	if err != nil {
		return writtenCheckout{}, err
	}
	if s.grounds == nil {
		s.grounds = map[string]writtenCheckout{}
	}
	s.grounds[tree] = g
	return g, nil
}

// bootID returns an ID that changes when the machine is restarted.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(data))
}

// forgetTree drops the state of a tree whose files are being removed.
func (s *overlayBaseCheckouts) forgetTree(tree string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.grounds, tree)
}
