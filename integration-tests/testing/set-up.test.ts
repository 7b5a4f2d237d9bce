import { lookup } from 'node:dns'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startHttpService } from '../../src/http/testing/http-service.ts'
import { takeAsked } from './set-up.ts'

it('nothing in the process of the tests requests a name or an address beyond this machine', async () => {
  await expect(promisify(lookup)('acme.protime.test')).rejects.toThrow('ENOTFOUND')
  await expect(fetch('http://acme.protime.test/')).rejects.toThrow()
  const refused = new Promise((resolve) => connect(80, '198.51.100.1').on('error', resolve))
  expect(await refused).toMatchObject({ code: 'ECONNREFUSED' })
  expect(takeAsked()).toEqual(['acme.protime.test', 'acme.protime.test', '198.51.100.1'])
})

it('this machine can be requested as usual', async () => {
  const { origin } = await startHttpService((_, response) => response.end('here'))
  expect(await (await fetch(origin.replace('127.0.0.1', 'localhost'))).text()).toBe('here')
  expect(takeAsked()).toEqual([])
})
