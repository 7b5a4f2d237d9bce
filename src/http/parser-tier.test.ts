import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { allowUnoptimisedParser, keepNextUnoptimised, optimiseAgain } from './parser-tier.ts'

it("V8's flags are those of whoever runs the process, unless a program of ours allows more, once", () => {
  const flags: string[] = []
  const set = (flag: string) => void flags.push(flag)
  const request = () => {
    keepNextUnoptimised(set)
    optimiseAgain(set)
  }
  request()
  expect(flags).toEqual([])
  allowUnoptimisedParser()
  request()
  request()
  expect(flags).toEqual(['--wasm-tier-up-filter=1000000', '--wasm-tier-up-filter=-1'])
})

it('every program that asks the service allows it before its first request, and nobody else does', () => {
  const asking = (file: string) => readFileSync(file, 'utf8').includes('allowUnoptimisedParser()')
  const programs = readdirSync('bin').filter((name) => name !== 'protime-emulator')
  expect(programs.filter((name) => !asking(`bin/${name}`))).toEqual([])
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/parser-tier/.test(name),
  )
  expect(sources.filter((name) => asking(`src/${name}`))).toEqual([])
})
