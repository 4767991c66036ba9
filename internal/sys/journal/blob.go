package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// BlobStore stores transcripts, logs and diffs under the hash of their content, so that a fact can
// refer to one and it can never change.
//
// A small blob is stored in the journal, if the store has one, and is written together with the
// facts. The others are files: the blob with the SHA-256 abcdef... is the file ab/cdef... in the
// store's directory. A file gets its name only when it is complete and synced. So whenever a
// process dies, a file under such a name is the complete blob, unless the disk is damaged. Many
// goroutines and processes may use a store.
type BlobStore struct {
	dir   string
	shelf SmallBlobStore      // may be nil
	mask  func([]byte) []byte // may be nil

	mu    sync.Mutex
	ready map[string]bool // subdirectories whose own entry is synced; guarded by mu
}

// maxSmallBlob is the size up to which a blob is stored in the journal, in bytes.
const maxSmallBlob = 32 << 10

// SmallBlobStore stores small blobs. They must be durable no later than an event that refers to
// them.
type SmallBlobStore interface {
	StoreSmallBlob(hash string, data []byte)
	// ReadSmallBlob returns nil if there is no such blob.
	ReadSmallBlob(hash string) ([]byte, error)
}

// OpenBlobStore opens the store in dir and creates the directory if necessary.
func OpenBlobStore(dir string) (*BlobStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, blobError(dir, "open blob store", err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, blobError(dir, "open blob store", err)
	}
	return &BlobStore{dir: dir, ready: map[string]bool{}}, nil
}

// WithSmallBlobs returns the store with small blobs in shelf. Existing files remain readable.
func (s *BlobStore) WithSmallBlobs(shelf SmallBlobStore) *BlobStore {
	s.shelf = shelf
	return s
}

// WithMask returns a store that stores the result of mask instead of each blob. The hash is that of
// the stored bytes.
func (s *BlobStore) WithMask(mask func([]byte) []byte) *BlobStore {
	s.mask = mask
	return s
}

// Put stores data and returns its hash. On return the blob is durable or, if it is small, will be
// durable no later than the next event of its journal. Storing an existing blob is cheap and
// changes nothing.
func (s *BlobStore) Put(data []byte) (hash string, err error) {
	hashes, err := s.PutAll(data)
	if err != nil {
		return "", err
	}
	return hashes[0], nil
}

// PutAll stores many blobs and returns their hashes in order. It syncs each directory once.
func (s *BlobStore) PutAll(data ...[]byte) (hashes []string, err error) {
	hashes = make([]string, len(data))
	var dirs []string
	for i, d := range data {
		if s.mask != nil {
			d = s.mask(d)
		}
		hashes[i] = blobHash(d)
		if s.shelf != nil && len(d) > 0 && len(d) <= maxSmallBlob {
			s.shelf.StoreSmallBlob(hashes[i], d)
			continue
		}
		path := s.blobPath(hashes[i])
		if err := s.writeBlob(path, d); err != nil {
			return nil, blobError(s.dir, "keep blob in", err)
		}
		if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return hashes, nil
	}
	if err := s.syncDirs(dirs); err != nil {
		return nil, blobError(s.dir, "keep blob in", err)
	}
	return hashes, nil
}

// writeBlob writes the blob's file, and its directory, unless it exists. An existing file is complete:
// it gets its name only after it was synced.
func (s *BlobStore) writeBlob(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync() // a failed sync is never repeated: the file is discarded
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// syncDirs makes names durable. Existing files are synced too: another process may have created them
// a moment ago. A directory's own name is last, once per process, when the least is left to write.
func (s *BlobStore) syncDirs(dirs []string) error {
	s.mu.Lock()
	known := !slices.ContainsFunc(dirs, func(dir string) bool { return !s.ready[dir] })
	s.mu.Unlock()
	for _, dir := range dirs {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range dirs {
		s.ready[dir] = true
	}
	return nil
}

// Get returns the blob with a hash. A missing one is [nexus.CodeNotFound]; one that does not match
// its hash is [nexus.CodeStorage].
func (s *BlobStore) Get(hash string) ([]byte, error) {
	if !isBlobHash(hash) {
		return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%.80q is not the hash of a blob", hash)}
	}
	data, err := s.findBlob(hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("no blob %s in %s", hash, s.dir),
			Hint: "It was deleted or not copied; restore it, or start the attempt again.", Cause: err,
		}
	}
	if err != nil {
		return nil, blobError(s.dir, "read blob "+hash+" in", err)
	}
	if blobHash(data) != hash {
		return nil, &nexus.Error{
			Code: nexus.CodeStorage, Message: fmt.Sprintf("blob %s in %s is damaged: it is not what was stored", hash, s.dir),
			Hint: "Check the disk; restore the file, or delete it and start the attempt again.",
		}
	}
	return data, nil
}

// findBlob returns the blob from the journal or, if it is not there, from its file.
func (s *BlobStore) findBlob(hash string) ([]byte, error) {
	if s.shelf != nil {
		if data, err := s.shelf.ReadSmallBlob(hash); data != nil || err != nil {
			return data, err
		}
	}
	return os.ReadFile(s.blobPath(hash))
}

func (s *BlobStore) blobPath(hash string) string { return filepath.Join(s.dir, hash[:2], hash[2:]) }

func blobHash(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// isBlobHash reports whether hash is a valid hash, so that no other text ever becomes a path.
func isBlobHash(hash string) bool {
	for _, c := range []byte(hash) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(hash) == hex.EncodedLen(sha256.Size)
}

// syncDir makes the entries of one directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// blobError adds the next step to a system error.
func blobError(dir, doing string, err error) error {
	e := &nexus.Error{Code: nexus.CodeStorage, Message: doing + " " + dir, Cause: err}
	e.Hint = fmt.Sprintf("Check the disk that holds %s, then run nexus resume.", dir)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Code = nexus.CodeDiskFull
		e.Hint = fmt.Sprintf("Free space on the disk that holds %s, then run nexus resume.", dir)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		e.Code = nexus.CodeReadOnly
		e.Hint = fmt.Sprintf("Make %s writable, or set XDG_STATE_HOME to another place.", dir)
	}
	return e
}
