package journal

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// Shelve keeps a small blob under its hash. It is written in the transaction
// of the next event that this journal appends, whoever appends it: an event
// that names the blob is appended later than that or is that event, so no
// crash leaves the one without the other, and the blob costs no sync of its
// own. A blob that no event follows is gone with the process.
func (j *Journal) Shelve(hash string, data []byte) {
	data = slices.Clone(data)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shelf[hash] = data
}

// Shelved returns the blob that was shelved under a hash by any process, nil
// if there is none.
func (j *Journal) Shelved(hash string) ([]byte, error) {
	j.mu.Lock()
	data, ok := j.shelf[hash]
	j.mu.Unlock()
	if ok {
		return data, nil
	}
	err := j.read.QueryRowContext(context.Background(), "select data from blob where hash = ?", hash).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return data, j.explain("read blob in", err)
}

// writeShelved writes what waits on the shelf and returns the hashes. It stays on the
// shelf until the transaction is durable; see taken.
func (j *Journal) writeShelved(ctx context.Context, tx *sql.Tx) ([]string, error) {
	j.mu.Lock()
	hashes, blobs := make([]string, 0, len(j.shelf)), make([][]byte, 0, len(j.shelf))
	for h, data := range j.shelf {
		hashes, blobs = append(hashes, h), append(blobs, data)
	}
	j.mu.Unlock()
	put := tx.StmtContext(ctx, j.every.blob) //nolint:sqlclosecheck // the end of the transaction closes it
	for i, h := range hashes {
		if _, err := put.ExecContext(ctx, h, blobs[i]); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// dropWritten clears the shelf of what is durable.
func (j *Journal) dropWritten(hashes []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, h := range hashes {
		delete(j.shelf, h)
	}
}
