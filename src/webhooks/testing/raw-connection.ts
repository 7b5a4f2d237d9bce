import { once } from 'node:events'
import { connect } from 'node:net'

/** A connection of which the test writes each byte. */
export interface RawConnection {
  write(data: Uint8Array | string): void
  /** Writes, and resolves with whether the other side has let all of it come. */
  sent(data: Uint8Array | string): Promise<boolean>
  /** All that was received so far. */
  heard(): string
  /** The status of each answer so far. */
  statuses(): number[]
  /** Resolves with them when there are so many. */
  answers(count: number): Promise<number[]>
  /** Resolves when the other side has closed it. */
  readonly closed: Promise<void>
  end(): void
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    socket.emit('heard')
  })
  // A reset is the end of a connection like another.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  const statuses = () =>
    [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)]
      .map(([, status]) => Number(status))
      .filter((status) => status !== 100)
  return {
    write: (data) => void socket.write(data),
    sent: (data) =>
      new Promise((resolve) => {
        socket.write(data, (error) => resolve(error == null))
      }),
    heard: () => text,
    statuses,
    async answers(count) {
      while (statuses().length < count) {
        await Promise.race([once(socket, 'heard'), closed])
        if (socket.closed && statuses().length < count)
          throw new Error(`the connection was closed after ${JSON.stringify(text)}`)
      }
      return statuses()
    },
    closed,
    end: () => void socket.destroy(),
  }
}
