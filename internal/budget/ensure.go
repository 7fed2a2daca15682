// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

const (
	// maxMirrors bounds the buckets made on demand, maxBuckets all of them, removed ones included.
	maxMirrors = 256
	maxBuckets = 1024
	// A handle is a generation and an index, so that a handle of an evicted bucket is not taken for its
	// successor's.
	indexBits      = 12
	maxGenerations = 1 << (31 - indexBits)
)

// Bucket returns the handle of a bucket by name.
func (s *Scheduler) Bucket(name string) (BucketID, bool) {
	b := s.byName[name]
	if b == nil || b.gone {
		return NoBucket, false
	}
	return b.id, true
}

// Ensure makes a bucket that is not part of the configuration, such as the mirror of a provider's limit, or sets
// its limits anew by the rules of every edit. Their number is bounded: the longest idle one without live calls
// makes room; if there is none, the answer is NoBucket, which limits nothing.
func (s *Scheduler) Ensure(spec Bucket, now time.Time) BucketID {
	s.tick(now)
	spec = spec.sanitize()
	if b := s.byName[spec.Name]; b != nil && (!b.gone || b.Kind == spec.Kind) {
		// A bucket keeps its kind for life.
		spec.Kind = b.Kind
		b.used, b.gone = s.clock, false
		if spec != b.Bucket {
			if s.patient && spec.Capacity == b.Capacity && spec.Limit == b.Limit && spec.Shares == b.Shares || spec.Kind == Slots && s.patient {
				s.relimit(b, spec)
				return b.id
			}
			// What waits may have to collect more than the bucket will hold.
			waiting := s.suspend()
			s.relimit(b, spec)
			s.resume(waiting, nil)
		}
		return b.id
	}
	if !s.makeRoom() {
		return NoBucket
	}
	return s.create(spec, false).id
}

// bucket returns the bucket of a handle; nil if it is unknown, removed or evicted.
func (s *Scheduler) bucket(id BucketID) *bucket {
	i := int(id & (1<<indexBits - 1))
	if id < 0 || i >= len(s.slots) || s.slots[i] == nil || s.slots[i].id != id || s.slots[i].gone {
		return nil
	}
	return s.slots[i]
}

// create makes a bucket, in place of a removed one of the name and another kind.
func (s *Scheduler) create(spec Bucket, pinned bool) *bucket {
	changed := s.byName[spec.Name] != nil
	b := &bucket{Bucket: spec, at: s.clock, used: s.clock, pinned: pinned, filling: largestNumber}
	s.reshare(b)
	b.limit(spec)
	if !spec.StartEmpty && (!changed || spec.Kind != Continuous) {
		b.level = spec.Capacity
	}
	b.ceiling = spec.Capacity
	for i := range b.accounts {
		a := &b.accounts[i]
		switch {
		case spec.Kind == Slots:
			a.reslot(spec.Capacity)
			b.level = spec.Capacity
		case b.caps():
			a.credit = a.share * b.level
		}
	}
	s.place(b)
	s.byName[spec.Name] = b
	return b
}

func (s *Scheduler) place(b *bucket) {
	for i := range s.slots {
		if s.slots[i] == nil {
			s.generations[i] = (s.generations[i] + 1) % maxGenerations
			b.id = BucketID(s.generations[i]<<indexBits | int32(i))
			s.slots[i] = b
			return
		}
	}
	b.id = BucketID(len(s.slots))
	s.slots = append(s.slots, b)
	s.generations = append(s.generations, 0)
}

// makeRoom evicts until another mirror fits.
func (s *Scheduler) makeRoom() bool {
	s.forget()
	mirrors, total := 0, 0
	var idle *bucket
	for _, b := range s.slots {
		if b == nil {
			continue
		}
		total++
		if b.pinned {
			continue
		}
		mirrors++
		if b.refs == 0 && (idle == nil || b.used < idle.used) {
			idle = b
		}
	}
	if mirrors < maxMirrors && total < maxBuckets {
		return true
	}
	if idle == nil {
		return false
	}
	s.evict(idle)
	return true
}

func (s *Scheduler) evict(b *bucket) {
	for i := range s.slots {
		if s.slots[i] == b {
			s.slots[i] = nil
		}
	}
	if s.byName[b.Name] == b {
		delete(s.byName, b.Name)
	}
}

// forget drops removed buckets that nobody refers to when their window has passed, or when they are too many.
func (s *Scheduler) forget() {
	total := 0
	for _, b := range s.slots {
		if b != nil {
			total++
		}
	}
	for _, b := range s.slots {
		if b == nil || !b.gone || b.refs > 0 {
			continue
		}
		if s.clock-b.goneAt > int64(b.memory()) || total >= maxBuckets || s.byName[b.Name] != b {
			s.evict(b)
			total--
		}
	}
}

// memory is how long a removed limit's level is remembered: after its window it would be full again.
func (b *bucket) memory() time.Duration {
	if b.Window > 0 {
		return b.Window
	}
	if b.Rate > 0 {
		return duration(b.Capacity / b.Rate)
	}
	return 0
}
