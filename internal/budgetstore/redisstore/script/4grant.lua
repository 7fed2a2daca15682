-- Grants: large vectors in the order in which they came, each whole, which collect a part of the refill of all their
-- budgets; and what small calls need. What there is is divided among classes: each has its share, and what is left goes by
-- max-min and weight to those that need more; a class's part is divided among the drawers that ask.

local function has(x, of) return x > TRIFLE * of end

-- spread adds to what claims have, by max-min in proportion to their weights and up to what they need. It returns what
-- nobody needs.
local function spread(claims, left)
  while left > 0 do
    local weights, least = 0, nil
    for _, o in ipairs(claims) do
      if o.need > o.has then
        weights = weights + o.weight
        least = math.min(least or huge, (o.need - o.has) / o.weight)
      end
    end
    if weights == 0 then break end
    local each = math.min(least, left / weights)
    for _, o in ipairs(claims) do
      if o.need > o.has then
        local all = (o.need - o.has) / o.weight <= each
        local more = all and o.need - o.has or each * o.weight
        o.has, left = all and o.need or o.has + more, left - more
      end
    end
    if each < least then return 0 end
  end
  return math.max(0, left)
end

-- within divides what a class has between its small calls and the vectors that collect.
local function within(o, r)
  local shares, small = 0, { need = o.c.n, has = 0, weight = 1 }
  for _, v in ipairs(o.vectors) do shares = shares + v.share end
  local scale = shares > o.share and o.share / shares or 1
  local claims, sure = { small }, 0
  for _, v in ipairs(o.vectors) do
    claims[#claims + 1] = { need = r, has = v.share * scale * r, weight = 1, vector = v }
    sure = sure + v.share * scale * r
  end
  small.has = math.min(small.need, math.max(0, o.share * r - sure))
  spread(claims, o.has - small.has - sure)
  o.c.part = small.has
  for i = 2, #claims do claims[i].vector.rate = claims[i].has end
end

-- divide works out what each class has of a budget in a second; of slots, how many.
local function divide(b)
  local r = b.slots and math.max(0, b.B - math.min(b.burst, b.B / 2)) or rate(b)
  local claims, of = {}, {}
  b.shares, b.unlent = 0, false
  for name, c in pairs(b.classes) do
    if c.k == 0 and acct.v - c.at > QUIET then
      b.classes[name] = nil
    else
      local o = { c = c, need = c.n, has = 0, weight = c.w, vectors = {} }
      claims[#claims + 1], of[name] = o, o
      b.shares, b.unlent = b.shares + c.s, b.unlent or c.u * c.s > 0
    end
  end
  for key, v in pairs(b.collect) do
    local o = of[v.class]
    if not o or acct.v - v.seen > STALE then
      b.collect[key] = nil
    else
      o.vectors[#o.vectors + 1], o.need = v, r
    end
  end
  local left, waits = r, {}
  for _, o in ipairs(claims) do
    o.share = o.c.s / math.max(1, b.shares)
    o.has = math.min(o.need, o.share * r)
    left = left - math.max(o.has, o.c.u * o.share * r)
    if o.need > 0 then waits[#waits + 1] = o end
  end
  b.spare = spread(waits, math.max(0, left))
  for _, o in ipairs(claims) do within(o, r) end
end

-- fair is what the small calls of one class of a drawer may have: an equal part of the class's, or what the others of it do
-- not need.
local function fair(b, l, name)
  local c, mine = b.classes[name], l.c[name]
  if not c then return 0 end
  local need, others = mine and mine.need or 0, c.k - (mine and 1 or 0)
  return math.max(0, c.part / (others + 1), c.part + b.spare - (c.n - need))
end

local function aloft(b, l)
  local others = b.asking - (l and l.need > 0 and 1 or 0)
  return others > 0 and ALOFT * rate(b) or 0
end

local function take(b, l, x)
  b.L, b.H, l.g = b.L - x, b.H + x, l.g + x
end

-- collect has a vector collect on its budgets where none of its lane that came before does.
local function collect(id, ticket, vector, lines)
  for _, part in ipairs(vector.parts) do
    local b, n = lines[part.line].b, 0
    local v = b.collect[vector.key]
    for _ in pairs(b.collect) do n = n + 1 end
    if (v or n < MAX_CLASSES) and (not v or v.own == id or acct.v - v.seen > STALE or v.ticket > ticket) then
      local _, name = class(b, vector.class)
      b.collect[vector.key] = {
        own = id, ticket = ticket, seen = acct.v, cost = math.min(part.units, b.B), share = math.min(part.share, 1),
        class = name, e = v and math.min(v.e, part.units) or 0, rate = v and v.rate or 0,
      }
    end
  end
end

-- goes says whether a vector can be granted: what it collected suffices, or what is there beside what is kept for others.
local function goes(id, vector, lines)
  local whole = true
  for _, part in ipairs(vector.parts) do
    local b, l = lines[part.line].b, lines[part.line].l
    local c, v = math.min(part.units, b.B), b.collect[vector.key]
    if b.L + TRIFLE * b.B < c or b.born + HOLD > acct.v then return false end
    local own = v and v.own == id and v.e or 0
    if own + TRIFLE * b.B < c then
      local mine = b.classes[vector.class]
      local others = kept(b) - own - (mine and mine.e or 0)
      if b.L - c < aloft(b, l) + others then whole = false end
    end
  end
  return whole
end

-- use takes of what a class does not lend.
local function use(b, name, x)
  local c = b.classes[name]
  if c then c.e = math.max(0, c.e - x) end
end

-- pay grants a vector.
local function pay(id, vector, lines)
  for _, part in ipairs(vector.parts) do
    local b, l = lines[part.line].b, lines[part.line].l
    local c, v = math.min(part.units, b.B), b.collect[vector.key]
    take(b, l, c)
    l.bulk = l.bulk + c
    local own = v and v.own == id and v.e or 0
    if v and v.own == id then b.collect[vector.key] = nil end
    use(b, vector.class, c - math.min(own, c))
  end
end

-- number returns what a drawer's large calls of a lane came to: n counts those that were granted.
local function number(r, vector)
  local k = r.larges[vector.key] or { n = 0, waits = 0 }
  r.larges[vector.key], k.named = k, acct.n
  -- The server may have lost what it granted.
  k.n = math.max(k.n, vector.number - (vector.first and 1 or vector.number))
  if k.waits ~= k.n + 1 then
    k.waits, acct.tickets = k.n + 1, acct.tickets + 1
    k.ticket = acct.tickets
  end
  return k
end

-- vectors grants the large calls of a draw, in each lane from the first that was not granted yet. It says whether one waits for
-- what drawers have in hand.
local function vectors(id, r, req, lines)
  local blocked, lacks, seen = {}, false, {}
  for i = 1, math.min(#req.vectors, MAX_BULKS) do
    local vector = req.vectors[i]
    vector.first, seen[vector.key] = not seen[vector.key], true
    local k = number(r, vector)
    if not blocked[vector.key] and vector.number > k.n then
      collect(id, k.ticket, vector, lines)
      if goes(id, vector, lines) then
        pay(id, vector, lines)
        k.n = k.n + 1
      else
        blocked[vector.key] = true
        for _, part in ipairs(vector.parts) do
          local b = lines[part.line].b
          lacks = lacks or math.min(part.units, b.B) > room(b)
        end
      end
    end
  end
  for key, k in pairs(r.larges) do
    if k.named ~= acct.n then r.larges[key] = nil end
  end
  for _, x in ipairs(lines) do drop(x.b, id, blocked) end
  return lacks
end

-- small grants what small calls lack: each class its part first, then what nobody is to have, as far as that goes.
local function small(b, l, want)
  if b.born + HOLD > acct.v then return end
  local most = math.min(want.want - l.g, math.max(3 * b.R, want.small) - (held(l) - l.bulk))
  local mine = kept(b)
  for pass = 1, 2 do
    for _, x in ipairs(want.claims) do
      local c, part = b.classes[x.class], l.c[x.class]
      if part then
        local free = b.L - (mine - c.e)
        local x1 = math.min(x.lack - x.new, most, free)
        if pass == 1 then
          local each = fair(b, l, x.class)
          part.part = math.min(part.part + each * (acct.v - part.at), math.max(each * CARRY, want.small))
          part.at = acct.v
          x1 = math.min(x1, part.part)
        else
          x1 = math.min(x1, free - aloft(b, l))
        end
        if has(x1, b.B) then
          take(b, l, x1)
          local e = math.min(c.e, x1)
          c.e, mine, most = c.e - e, mine - e, most - x1
          x.new, part.part = x.new + x1, math.max(0, part.part - x1)
        end
      end
    end
  end
end

-- entitled is how many slots a drawer may have.
local function entitled(b, l, want)
  local sum = 0
  for _, x in ipairs(want.claims) do
    if l.c[x.class] then sum = sum + fair(b, l, x.class) end
  end
  return math.min(sum, math.max(0, b.B - math.min(b.burst, b.B / 2)))
end

-- whole is how many of that: what does not divide evenly goes in turn, to a drawer that lacked it for some time.
local function whole(l, may)
  local most = math.ceil(may - TRIFLE)
  if l.part >= TURN and held(l) < most then return most, true end
  return math.floor(may + TRIFLE), false
end

-- slots grants whole ones. While a drawer has fewer than it may have, and none is free, the others get no more than they may
-- have and give back what they have beyond that as their calls end.
local function slots(id, b, l, want)
  local may, lack = entitled(b, l, want), math.floor(want.want - l.g)
  local lacked = l.need > 0 and (may - held(l)) * (acct.v - l.at) or -l.part
  l.part, l.at = math.max(-CREDIT, math.min(CREDIT, l.part + lacked)), acct.v
  if b.born + HOLD > acct.v then return end
  local own, turn = whole(l, may)
  local x = math.max(0, math.min(lack, math.floor(b.L + TRIFLE)))
  if b.short and b.short ~= id and acct.v - b.shortAt < RECALL then
    x = math.max(0, math.min(x, own - held(l)))
  end
  if x > 0 then take(b, l, x) end
  if x < lack and held(l) < own then
    if not b.short or b.short == id or acct.v - b.shortAt >= RECALL then
      b.short, b.shortAt, b.turn = id, acct.v, turn
    end
  elseif b.short == id then
    b.short = nil
  end
end

-- keep is how many slots a drawer is to keep, -1 if nobody waits for them.
local function keep(id, b, l, want)
  if not b.slots or not b.short or b.short == id or acct.v - b.shortAt >= RECALL then return -1 end
  local may = entitled(b, l, want)
  if b.turn and held(l) > may and l.part < 0 then return math.floor(may + TRIFLE) end
  return math.ceil(may - TRIFLE)
end

-- tell works out what the drawer may spend when it hears nothing any longer: an equal part of half the rate, but together
-- with what others may go by never more than half.
local function tell(b, l)
  local half = b.slots and b.B / 2 or b.R / 2
  local free = half - (b.slots and b.burst or b.left) - b.told
  local own = reserved(l)
  local share = math.max(0, math.min((free + b.told) / math.max(1, acct.heard), own + free))
  l.next, l.n = share, acct.n
  b.told = b.told + reserved(l) - own
end

-- heed notes by which share a drawer goes: the one that it was told last, once it says that it has heard of it.
local function heed(b, l, version)
  if l.n and version >= l.n and l.told ~= l.next then
    b.told = math.max(0, b.told - reserved(l) + l.next)
    l.told = l.next
  end
end

-- leave ends a drawer that spends nothing any longer and has given back what it had.
local function leave(id, r)
  r.bye, r.over = true, acct.v
  if r.heard then hush(id, r, acct.v) end
  ends(id, acct.v)
end

-- expect is what a line may expect in a second; one that needs nothing yet, as much as another of those who ask.
local function expect(b, l, want)
  if b.slots then return 0 end
  local r, sum = rate(b), 0
  for _, x in ipairs(want.claims) do sum = sum + fair(b, l, x.class) end
  if sum > 0 or l.need > 0 then return math.min(r, sum) end
  return math.max(r / math.max(1, b.asking), r - b.needs)
end

-- said is an answer's part about one line.
local function said(id, x)
  local b, l = x.b, x.l
  local out = { string.format('%.17g %.17g %.17g %.17g %.17g %d', l.g, l.next, expect(b, l, x.want), b.L, b.H, keep(id, b, l, x.want)) }
  for _, c in ipairs(x.want.claims) do
    out[#out + 1] = string.format('%.9g %.9g', l.c[c.class] and fair(b, l, c.class) or 0, c.new)
  end
  return table.concat(out, ' ')
end
