package journal

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// StoreSmallBlob stores a small blob under its hash in memory. It is written in the transaction of the
// next event that this process appends to the journal. An event that refers to the blob is that
// event or a later one, so no crash can keep the event without the blob, and the blob needs no
// sync of its own. A blob without a later event is lost when the process ends.
func (j *Journal) StoreSmallBlob(hash string, data []byte) {
	data = slices.Clone(data)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shelf[hash] = data
}

// ReadSmallBlob returns the small blob with a hash, from any process, nil if there is none.
func (j *Journal) ReadSmallBlob(hash string) ([]byte, error) {
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
	return data, j.explainError("read blob in", err)
}

// writePendingBlobs writes the pending blobs and returns their hashes. They remain in memory until the
// transaction is durable; see dropDurableBlobs.
func (j *Journal) writePendingBlobs(ctx context.Context, tx *sql.Tx) ([]string, error) {
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

// dropDurableBlobs removes the blobs that are durable from memory.
func (j *Journal) dropDurableBlobs(hashes []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, h := range hashes {
		delete(j.shelf, h)
	}
}
