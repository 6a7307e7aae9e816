import { createHash } from 'node:crypto'

/** A script of Redis, each run of which happens as a whole or not at all. */
export interface Script {
  readonly text: string
  readonly sha: string
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

// A value is a hash of its text `v` and its version `n`. Versions are the microseconds of the server's clock, moved on
// where two puts of a key would share one. Groups have three sorted sets: all keys, by bytes; those that expire, by
// when; those that may go, in the order of going. A key of theirs may still be named after its value has expired.

const time = `
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
local nowMs = math.floor(now / 1000)
`

const put = `
local old = redis.call('HGET', KEYS[1], 'n')
if ARGV[2] ~= '' and ARGV[2] ~= (old or '0') then return false end
${time}
local version = now
if old and tonumber(old) >= version then version = tonumber(old) + 1 end
local written = string.format('%.0f', version)
local expiresAt = tonumber(ARGV[3])
local function write()
  redis.call('HSET', KEYS[1], 'v', ARGV[1], 'n', written)
  if expiresAt then redis.call('PEXPIREAT', KEYS[1], ARGV[3]) else redis.call('PERSIST', KEYS[1]) end
end
`

const groupOf = `
local all, expiring, evictable, member = KEYS[2], KEYS[3], KEYS[4], ARGV[4]
local base = string.sub(KEYS[1], 1, #KEYS[1] - #member)
local function forget(name)
  redis.call('ZREM', all, name)
  redis.call('ZREM', expiring, name)
  redis.call('ZREM', evictable, name)
end
local function forgetExpired(atMost)
  local gone = redis.call('ZRANGEBYSCORE', expiring, '-inf', nowMs, 'LIMIT', 0, atMost)
  for _, name in ipairs(gone) do forget(name) end
  return #gone
end
`

/** KEYS: value. ARGV: text, version to have or '', expiry or ''. Returns the version, or nil where it was another one. */
export const putScript: Script = script(`${put}
write()
return written
`)

/**
 * KEYS: value and the three sets of its group. ARGV: as above, key, bound or '', rank among those that go.
 * Returns the version; nil; or 'full'.
 */
export const putInGroupScript: Script = script(`${put}${groupOf}
local max = tonumber(ARGV[5])
local rank = tonumber(ARGV[6])
-- First of all, since a server without memory refuses only what comes before a script's first change.
write()
forgetExpired(8)
if not old and max then
  forget(member)
  if redis.call('ZCARD', all) >= max then
    while forgetExpired(100) > 0 do end
    while redis.call('ZCARD', all) >= max do
      local oldest = redis.call('ZPOPMIN', evictable)[1]
      if not oldest then
        redis.call('DEL', KEYS[1])
        return 'full'
      end
      redis.call('DEL', base .. oldest)
      forget(oldest)
    end
  end
end
if expiresAt and expiresAt <= nowMs then
  forget(member)
  return written
end
-- The sets stay as long as the longest of what they name, all three: one that went before would leave names behind.
local left = redis.call('PTTL', all)
redis.call('ZADD', all, 0, member)
if expiresAt then redis.call('ZADD', expiring, ARGV[3], member) else redis.call('ZREM', expiring, member) end
if rank > 0 then redis.call('ZADD', evictable, string.format('%.0f', (rank - 1) * 4503599627370496 + version), member)
else redis.call('ZREM', evictable, member) end
local stays = expiresAt and left ~= -1 and math.max(expiresAt, nowMs + left)
for at = 2, 4 do
  if stays then redis.call('PEXPIREAT', KEYS[at], string.format('%.0f', stays)) else redis.call('PERSIST', KEYS[at]) end
end
return written
`)

/** KEYS: value, and where it has a group, the sets. ARGV: key, version to have or ''. Returns how many were deleted. */
export const deleteScript: Script = script(`
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], 'n') ~= ARGV[2] then return 0 end
for at = 2, #KEYS do redis.call('ZREM', KEYS[at], ARGV[1]) end
return redis.call('DEL', KEYS[1])
`)

/** KEYS: all keys of a group. ARGV: what is before each value's key, start, how many. Returns key, text, version, … */
export const listScript: Script = script(`
local found = {}
local start, left = ARGV[2], tonumber(ARGV[3])
while left > 0 do
  local names = redis.call('ZRANGEBYLEX', KEYS[1], start, '+', 'LIMIT', 0, left)
  if #names == 0 then break end
  for _, name in ipairs(names) do
    local value = redis.call('HMGET', ARGV[1] .. name, 'v', 'n')
    if value[1] then
      found[#found + 1] = name
      found[#found + 1] = value[1]
      found[#found + 1] = value[2]
      left = left - 1
    end
    start = '(' .. name
  end
end
return found
`)

// A log is a stream. The id of an entry is its sequence and the milliseconds of its time; beside its text it has the
// bytes of all entries that there ever were, up to it.

/** KEYS: stream. ARGV: text, entries, bytes or '', age or '', expiry. Returns the sequence. */
export const appendScript: Script = script(`${time}
local function sequenceOf(entry) return tonumber(string.match(entry[1], '^%d+')) end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local sequence, bytes = 1, #ARGV[1]
if last then
  sequence = sequenceOf(last) + 1
  bytes = tonumber(last[2][4]) + bytes
end
local id = string.format('%.0f-%.0f', sequence, nowMs)
redis.call('XADD', KEYS[1], id, 'v', ARGV[1], 'b', string.format('%.0f', bytes))
redis.call('XTRIM', KEYS[1], 'MAXLEN', '=', ARGV[2])
local maxBytes, maxAge = tonumber(ARGV[3]), tonumber(ARGV[4])
while maxBytes or maxAge do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  if sequenceOf(oldest) >= sequence then break end
  local held = bytes - tonumber(oldest[2][4]) + #oldest[2][2]
  local at = tonumber(string.match(oldest[1], '%d+$'))
  if not (maxBytes and held > maxBytes) and not (maxAge and at < nowMs - maxAge) then break end
  redis.call('XTRIM', KEYS[1], 'MINID', '=', string.format('%.0f', sequenceOf(oldest) + 1))
end
redis.call('PEXPIREAT', KEYS[1], ARGV[5])
return sequence
`)

/** KEYS: stream. ARGV: the first sequence wanted. Returns the oldest id, or '', and the entries. */
export const readScript: Script = script(`
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then return { '', {} } end
return { oldest[1], redis.call('XRANGE', KEYS[1], ARGV[1], '+') }
`)
