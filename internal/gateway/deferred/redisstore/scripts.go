// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import "github.com/redis/go-redis/v9"

// Fields of a ticket's hash, besides the bodies, which are called as store.Body names them.
const (
	fieldOwner  = "owner"
	fieldRecord = "record"
)

// saveScript changes a ticket of the owner's; with ARGV[2] = 1 it makes a new one.
//
//	KEYS: the ticket, the index. ARGV: owner, new, id, record, milliseconds to live, score, then pairs of a field and
//	its body, where "" removes the field.
//
//nolint:dupword // blocks of Lua end so
var saveScript = redis.NewScript(`
local owner = redis.call('HGET', KEYS[1], 'owner')
if ARGV[2] == '1' then
  if owner then return 0 end
elseif owner ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'record', ARGV[4])
for i = 7, #ARGV, 3 do
  if ARGV[i + 1] == 'drop' then redis.call('HDEL', KEYS[1], ARGV[i])
  else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[3])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
return 1
`)

// adoptScript makes a ticket this gateway's if its owner is still who it was when that was found gone.
//
//	KEYS: the ticket, the former owner's heartbeat. ARGV: the owner, the former one.
var adoptScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
return 1
`)

// deleteScript removes a ticket.
//
//	KEYS: the ticket, the index. ARGV: id.
var deleteScript = redis.NewScript(`
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
`)
