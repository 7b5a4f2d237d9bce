import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,emulator,integration-tests,scripts,bench}/**/*.test.ts'],
    globalSetup: ['integration-tests/build-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
