import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../engines/command.ts'
import { type PostgreSql, startPostgreSql } from '../engines/meltano/postgresql.ts'

/** A server with a database for warehouses. */
export interface TestServer extends Omit<PostgreSql, 'user'> {
  /** The address of a warehouse, by default that of the superuser on the server's own port. */
  address(schema: string, at?: { readonly user?: string; readonly port?: number }): string
}

/** Starts a server on loopback; its password is in the environment of this process. */
export async function startServer(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const { user: superuser, ...server } = await startPostgreSql(folder)
  process.env['PGPASSWORD'] = server.password
  return {
    ...server,
    address: (schema, { user = superuser, port = server.port } = {}) =>
      `postgres://${user}@127.0.0.1:${port}/postgres?schema=${schema}`,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** What a proxy does with a part that a client sends. */
export type Fate = 'pass' | 'drop before' | 'drop after'

/** Passes connections on to a port of loopback, and drops those of which `fateOf` says so, before or after a part was passed on. */
export async function startProxy(to: number, fateOf: (sent: Buffer) => Fate) {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(to, '127.0.0.1')
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.on('data', (sent) => {
      const fate = fateOf(sent)
      if (fate === 'drop before') return end()
      server.write(sent)
      // The answer comes, and nobody hears it.
      if (fate === 'drop after') server.removeAllListeners('data').on('data', end)
    })
    server.on('data', (answer) => void client.write(answer))
  }).listen(port, '127.0.0.1')
  return {
    port,
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
