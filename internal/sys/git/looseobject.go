package git

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/adler32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// maxUncompressed is the size up to which an object is stored uncompressed: it needs one disk block in both
// cases, and compressing costs more than writing.
const maxUncompressed = 2 << 10

// looseObjectEncoder builds the bytes of loose objects. Making a compressor allocates 1.2 MB; reusing one
// costs little.
type looseObjectEncoder struct {
	raw []byte       // header and content
	out bytes.Buffer // the file's bytes
	zip *zlib.Writer // nil until needed
}

// WriteObject stores an object and returns its name. Storing an existing object is cheap.
func (o *ObjectStore) WriteObject(kind string, data []byte) (string, error) {
	p, ok := o.packers.Get().(*looseObjectEncoder)
	if !ok {
		p = &looseObjectEncoder{}
	}
	defer o.keepPackerForReuse(p)
	p.raw = append(p.raw[:0], kind...)
	p.raw = append(p.raw, ' ')
	p.raw = strconv.AppendInt(p.raw, int64(len(data)), 10)
	p.raw = append(p.raw, 0)
	p.raw = append(p.raw, data...)
	h := newHash(o.size)
	h.Write(p.raw)
	id := hex.EncodeToString(h.Sum(nil))
	path := filepath.Join(o.repo.Dir, "objects", id[:2], id[2:])
	if info, err := os.Lstat(path); err == nil && info.Size() > 0 { // a crash leaves empty files
		return id, nil
	}
	if err := p.compressObject(); err != nil {
		return "", err
	}
	return id, writeObjectFile(path, p.out.Bytes())
}

// keepPackerForReuse keeps a packer for the next object, unless it has grown large.
func (o *ObjectStore) keepPackerForReuse(p *looseObjectEncoder) {
	if cap(p.raw) <= 1<<20 && p.out.Cap() <= 1<<20 {
		o.packers.Put(p)
	}
}

// compressObject writes raw to out as a zlib stream.
func (p *looseObjectEncoder) compressObject() error {
	p.out.Reset()
	if n := len(p.raw); n <= maxUncompressed {
		size := binary.LittleEndian.AppendUint16(nil, uint16(n))
		size = binary.LittleEndian.AppendUint16(size, ^uint16(n))
		p.out.Write([]byte{0x78, 0x01, 0x01}) // zlib header, fastest level; one last block, stored
		p.out.Write(size)
		p.out.Write(p.raw)
		p.out.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(p.raw)))
		return nil
	}
	if p.zip == nil {
		var err error
		if p.zip, err = zlib.NewWriterLevel(&p.out, zlib.BestSpeed); err != nil {
			return err
		}
	} else {
		p.zip.Reset(&p.out)
	}
	_, err := p.zip.Write(p.raw)
	return errors.Join(err, p.zip.Close())
}

// writeObjectFile writes a file atomically.
func writeObjectFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	name := filepath.Join(dir, "tmp_obj_"+rand.Text())
	f, err := createFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(dir, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			f, err = createFile(name)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

func createFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
}
