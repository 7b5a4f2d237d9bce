import { after, before, each, errorTrace, type Fault, first } from './fault.ts'

// biome-ignore lint/suspicious/noExplicitAny: what is broken on purpose has no type
type Loose = any

const ofPeople = ({ record, state, trace }: Loose): boolean =>
  (record?.stream ??
    state?.stream.stream_descriptor.name ??
    trace?.stream_status?.stream_descriptor.name) === 'people'

/** A fault of what `read` prints; `rule` is what a full refresh should have done. */
function reading(does: string, rule: string, lines: Fault['lines']): Fault {
  return { does, brokenRule: `a full refresh ${rule}`, command: 'read', ...(lines && { lines }) }
}

/** Changes the data of the first record of `people`. */
function spoiltRecord(change: (data: Loose) => void) {
  return first(
    'RECORD',
    (message) => {
      change(message.record.data)
      return message
    },
    ofPeople,
  )
}

function withoutPeople(type: string, status?: string) {
  return each(type, (message) => {
    const isMeant = status === undefined || message.trace?.stream_status?.status === status
    return ofPeople(message) && isMeant ? [] : message
  })
}

function spoiltStates(change: (state: Loose) => void) {
  return each('STATE', (message) => {
    change(message.state)
    return message
  })
}

/** Moves the first state of `people` in front of its records. */
function stateFirst(lines: readonly string[]): string[] {
  const of = (type: string) =>
    lines.findIndex((line) => {
      const message = JSON.parse(line)
      return message.type === type && ofPeople(message)
    })
  const record = of('RECORD')
  const state = of('STATE')
  const moved = lines.filter((_, i) => i !== state)
  return moved.toSpliced(record, 0, lines[state] ?? '')
}

/** Drops a record and corrects the count, so that only the service knows. */
function loseRecord(lines: readonly string[]): string[] {
  const lost = first('RECORD', () => [], ofPeople)(lines)
  return first(
    'STATE',
    (message) => {
      message.state.sourceStats.recordCount -= 1
      return message
    },
    ofPeople,
  )(lost)
}

/** Gives each state the blob of the last one of its stream. */
function jumpAhead(lines: readonly string[]): string[] {
  const last = new Map<string, object>()
  for (const line of lines) {
    const { state } = JSON.parse(line)
    if (state !== undefined)
      last.set(state.stream.stream_descriptor.name, state.stream.stream_state)
  }
  return each('STATE', (message, index) => {
    const { stream } = message.state
    const blob = last.get(stream.stream_descriptor.name) as object
    // Blobs must differ, or the states would not even be looked at.
    message.state.stream.stream_state = { ...blob, index }
    return message
  })(lines)
}

/** Faults of a read that nothing disturbs. */
export const faultsOfReads: readonly Fault[] = [
  reading(
    'counts one record too many',
    'counts records exactly in its states',
    spoiltStates((state) => {
      state.sourceStats.recordCount += 1
    }),
  ),
  reading('sends a state before its records', 'counts records exactly in its states', stateFirst),
  reading(
    'does not count',
    'counts records exactly in its states',
    spoiltStates((state) => {
      delete state.sourceStats
    }),
  ),
  reading('sends no state of a stream', 'sends a state of every stream', withoutPeople('STATE')),
  reading(
    'sends states of the old form',
    'sends a state of every stream',
    spoiltStates((state) => {
      state.type = 'LEGACY'
      state.data = {}
    }),
  ),
  reading(
    'repeats a state',
    'moves on from state to state',
    spoiltStates((state) => {
      state.stream.stream_state = { page: 1 }
      state.sourceStats.recordCount = 1
    }),
  ),
  {
    does: 'loses a record',
    brokenRule: 'expected rows are read',
    command: 'read',
    lines: loseRecord,
  },
  {
    does: 'leaves a stream out',
    brokenRule: 'every stream has records',
    command: 'read',
    lines: withoutPeople('RECORD'),
  },
  reading(
    'sends a record of another stream',
    'sends records of the chosen streams only',
    first('RECORD', (message) => [
      message,
      { ...message, record: { ...message.record, stream: 'planets' } },
    ]),
  ),
  reading(
    'sends an empty record',
    'sends no empty record',
    first('RECORD', (message) => {
      message.record.data = {}
      return message
    }),
  ),
  reading(
    'sends a record without its key',
    'fills the primary keys',
    spoiltRecord((data) => {
      data.id = null
    }),
  ),
  reading(
    'sends text for a number',
    'sends records that fit the schemas',
    spoiltRecord((data) => {
      data.id = 'one'
    }),
  ),
  reading('sends 1.0 for an integer', 'sends records that fit the schemas', (lines) =>
    lines.map((line) => line.replace(/("data":\{"id":\d+)/, '$1.0')),
  ),
  reading(
    'sends a day that does not exist',
    'sends records that fit the schemas',
    spoiltRecord((data) => {
      data.periodClosingDate = '2026-02-30'
    }),
  ),
  reading(
    'sends a column that the schema lacks',
    'sends columns that the schemas name',
    spoiltRecord((data) => {
      data.shoeSize = 42
    }),
  ),
  reading(
    'counts seconds instead of milliseconds',
    'stamps records with the present',
    each('RECORD', (message) => {
      message.record.emitted_at = Math.floor(message.record.emitted_at / 1000)
      return message
    }),
  ),
  reading(
    'does not say that a stream began',
    'reports the statuses of every stream in order',
    withoutPeople('TRACE', 'STARTED'),
  ),
  reading(
    'does not say that a stream is complete',
    'reports the statuses of every stream in order',
    withoutPeople('TRACE', 'COMPLETE'),
  ),
  reading(
    'completes a stream that nobody knows',
    'reports the statuses of every stream in order',
    after({
      type: 'TRACE',
      trace: {
        type: 'STREAM_STATUS',
        emitted_at: 1_700_000_000_000,
        stream_status: { stream_descriptor: { name: 'planets' }, status: 'COMPLETE' },
      },
    }),
  ),
  reading(
    'sends a record after the end of its stream',
    'sends nothing outside of a run of its stream',
    (lines) => [...lines, lines.find((line) => JSON.parse(line).type === 'RECORD') ?? ''],
  ),
  reading(
    'gives two reasons for waiting',
    'forms its traces well',
    first('TRACE', (message) => {
      const reason = { type: 'RATE_LIMITED' }
      message.trace.stream_status.reasons = [reason, reason]
      return message
    }),
  ),
  reading(
    'leaves the time out of its traces',
    'prints messages only',
    each('TRACE', (message) => {
      delete message.trace.emitted_at
      return message
    }),
  ),
  reading('prints a line that is not JSON', 'prints messages only', before('Reading...')),
  reading('glues text to a record', 'prints messages only', (lines) =>
    lines.map((line) => (line.includes('"RECORD"') ? `page 1: ${line}` : line)),
  ),
  reading(
    'prints its catalog',
    'keeps to the types of a read',
    after({ type: 'CATALOG', catalog: { streams: [] } }),
  ),
  { ...reading('writes to stderr', 'is quiet on stderr', undefined), stderr: 'Reading...\n' },
  reading(
    'logs its secret',
    'tells no secret',
    after({
      type: 'LOG',
      log: { level: 'DEBUG', message: 'POST /token client_secret=emulator-secret' },
    }),
  ),
  {
    ...reading(
      'fails',
      'ends with exit code 0 and no error',
      after(errorTrace('system', 'people')),
    ),
    exitCode: 1,
  },
  {
    ...reading(
      'claims success after an error',
      'ends with an exit code that fits its errors',
      after(errorTrace('system', 'people')),
    ),
    exitCode: 0,
  },
  {
    ...reading('fails without a word', 'ends with an exit code that fits its errors', undefined),
    exitCode: 3,
  },
  {
    does: 'skips records by its states',
    brokenRule: 'a read continues from any of its states',
    command: 'read',
    lines: jumpAhead,
  },
  {
    does: 'counts no record in any state',
    brokenRule: 'states of every stream count records',
    command: 'read',
    lines: spoiltStates((state) => {
      state.sourceStats.recordCount = 0
    }),
  },
  {
    does: 'ignores the state',
    brokenRule: 'the last state saves the next read its work',
    command: 'read',
    ignoresState: true,
  },
  {
    does: 'stamps all reads alike',
    brokenRule: 'a second read has what the first had',
    command: 'read',
    lines: each('RECORD', (message) => {
      message.record.emitted_at -= message.record.emitted_at % 600_000
      return message
    }),
  },
]
