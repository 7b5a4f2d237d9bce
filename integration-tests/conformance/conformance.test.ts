import { conformanceSuite } from './conformance-suite.ts'
import { configFile, emulatedTenant, executable } from './emulated-tenant.ts'

conformanceSuite({ executable, configFile, prepare: emulatedTenant })
