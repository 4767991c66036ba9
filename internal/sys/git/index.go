package git

import (
	"crypto/sha1" //nolint:gosec // git's own format
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"sort"
	"strings"
)

// The kinds of entries in a tree or index.
const (
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeLink    = 0o120000
	ModeTree    = 0o040000
	ModeGitlink = 0o160000 // a commit of another repository
)

// IndexFileStat has the data in an index that detects changes of a file. The zero Stat matches no file.
type IndexFileStat struct {
	Changed  int64  // time of the last change of content or attributes, Unix nanoseconds
	Modified int64  // time of the last change of content
	Inode    uint32 // low bits
	Size     uint32 // low bits
	Mode     uint32 // one of the Mode constants
}

// IndexEntry is one file of an index.
type IndexEntry struct {
	Path string
	Mode uint32
	Raw  string // object name, in binary
	Stat IndexFileStat
}

// ObjectName returns the object name in hex.
func (e IndexEntry) ObjectName() string { return hex.EncodeToString([]byte(e.Raw)) }

// Index is a list of files sorted by path, as in git's index files.
type Index []IndexEntry

// newHash returns the hash function of object names with this length in bytes.
func newHash(size int) hash.Hash {
	if size == sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // git's own format
}

// The layout of an entry: ten 32-bit words, the object name, 16 bits of flags, the path, and one
// to eight NULs.
const (
	statSize  = 40
	nameMask  = 0xfff
	stageMask = 0x3000
)

var errIndex = errors.New("index: not a version 2 index")

// ParseIndex parses an index file of version 2, git's default; size is the length of an object
// name in bytes.
func ParseIndex(data []byte, size int) (Index, error) {
	if len(data) < 12+size || string(data[:4]) != "DIRC" || binary.BigEndian.Uint32(data[4:]) != 2 {
		return nil, errIndex
	}
	n := int(binary.BigEndian.Uint32(data[8:]))
	text := string(data) // all paths share this string
	end := len(data) - size
	if n > end/(statSize+size+2) {
		return nil, errIndex
	}
	all := make(Index, 0, n)
	at := 12
	for range n {
		name := at + statSize + size + 2
		if name > end {
			return nil, errIndex
		}
		length := strings.IndexByte(text[name:end], 0)
		flags := binary.BigEndian.Uint16(data[name-2:])
		if length <= 0 || flags&^nameMask != 0 || int(flags) != min(length, nameMask) {
			return nil, errIndex // an unfinished merge, or flags of version 3
		}
		e := IndexEntry{Path: text[name : name+length], Stat: parseStat(data[at:])}
		e.Mode = e.Stat.Mode
		e.Raw = text[at+statSize : at+statSize+size]
		if n := len(all); n > 0 && all[n-1].Path >= e.Path {
			return nil, errIndex
		}
		all = append(all, e)
		at += (statSize + size + 2 + length + 8) / 8 * 8
	}
	return all, nil
}

func parseStat(b []byte) IndexFileStat {
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	return IndexFileStat{
		Changed:  int64(word(0))*1e9 + int64(word(1)),
		Modified: int64(word(2))*1e9 + int64(word(3)),
		Inode:    word(5), Mode: word(6), Size: word(9),
	}
}

// Encode returns the index as a file of version 2.
func (x Index) Encode(size int) ([]byte, error) {
	b := []byte("DIRC\x00\x00\x00\x02")
	b = binary.BigEndian.AppendUint32(b, uint32(len(x)))
	for _, e := range x {
		if len(e.Raw) != size {
			return nil, fmt.Errorf("index: %q is not an object name", e.ObjectName())
		}
		start := len(b)
		for _, w := range []uint32{
			uint32(e.Stat.Changed / 1e9), uint32(e.Stat.Changed % 1e9),
			uint32(e.Stat.Modified / 1e9), uint32(e.Stat.Modified % 1e9),
			0, e.Stat.Inode, e.Mode, 0, 0, e.Stat.Size,
		} {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		b = append(b, e.Raw...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(e.Path), nameMask)))
		b = append(b, e.Path...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	h := newHash(size)
	h.Write(b)
	return h.Sum(b), nil
}

// Find returns the entry of a path.
func (x Index) Find(path string) (IndexEntry, bool) {
	i := sort.Search(len(x), func(i int) bool { return x[i].Path >= path })
	if i < len(x) && x[i].Path == path {
		return x[i], true
	}
	return IndexEntry{}, false
}

// EntriesBelow returns the entries below a directory; "" is the root.
func (x Index) EntriesBelow(dir string) Index {
	if dir == "" {
		return x
	}
	from := sort.Search(len(x), func(i int) bool { return x[i].Path >= dir+"/" })
	to := sort.Search(len(x), func(i int) bool { return x[i].Path >= dir+"0" }) // '0' follows '/'
	return x[from:to]
}
