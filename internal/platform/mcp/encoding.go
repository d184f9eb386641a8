package mcp

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// unpack makes the body of an answer readable that was compressed although
// nobody asked for it, or in another spelling; what was asked for net/http
// unpacks itself. It reads nothing yet. The error takes the place of the answer.
func unpack(res *http.Response) (*http.Response, error) {
	kind := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))
	var open func(io.Reader) (io.ReadCloser, error)
	switch kind {
	case "", "identity":
		return res, nil
	case "gzip", "x-gzip":
		open = func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }
	case "deflate":
		open = zlib.NewReader
	default:
		_ = res.Body.Close() // nobody can read it
		return nil, fmt.Errorf("the answer (HTTP %d) is compressed as %s, which was not asked for", res.StatusCode, excerpt([]byte(kind)))
	}
	res.Body = &packed{body: res.Body, open: open}
	res.ContentLength = -1
	res.Header.Del("Content-Encoding")
	return res, nil
}

// A packed body is unpacked when it is read.
type packed struct {
	body io.ReadCloser
	open func(io.Reader) (io.ReadCloser, error)
	r    io.ReadCloser // nil before the first read
}

func (p *packed) Read(b []byte) (int, error) {
	if p.r == nil {
		r, err := p.open(p.body)
		if err != nil {
			return 0, err
		}
		p.r = r
	}
	return p.r.Read(b)
}

func (p *packed) Close() error { return p.body.Close() }
