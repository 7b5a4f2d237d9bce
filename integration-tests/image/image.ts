import { packageFolder } from '../../scripts/demo/paths.ts'
import { packageVersion } from '../../src/project-files.ts'
import { expectSame } from '../answers.ts'
import type { Buildah } from './buildah.ts'
import type { ImageConfig } from './container.ts'
import { HOME } from './files.ts'

/** The stand-in for the official image of Node. */
export const BASE = 'localhost/node-stand-in'
export const IMAGE = 'localhost/source-protime'

export const DESTINATION = 'localhost/destination-protime'

/** The id of the image that the Dockerfile makes; the same files have the same id. */
export async function build(
  buildah: Buildah,
  version = packageVersion(),
  target: readonly string[] = ['--tag', IMAGE],
): Promise<string> {
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  const secret = certificates === undefined ? [] : ['--secret', `id=ca,src=${certificates}`]
  const fixed = ['--pull-never', '--no-cache', '--timestamp', '1', '--identity-label=false']
  const given = ['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `VERSION=${version}`]
  await buildah.run('bud', ...fixed, ...secret, ...given, ...target, packageFolder)
  return (await buildah.run('images', '--no-trunc', '--quiet', target.at(-1) ?? IMAGE)).trim()
}

/** What an image says of itself; throws where that is not as platforms expect it. */
export async function configOf(
  buildah: Buildah,
  image = IMAGE,
  program = 'source-protime',
): Promise<ImageConfig> {
  const { OCIv1 } = JSON.parse(await buildah.run('inspect', '--type', 'image', image)) as {
    OCIv1: { config: ImageConfig }
  }
  const { config } = OCIv1
  const { User, Entrypoint, Env, Labels } = config
  expectSame(
    {
      User,
      Entrypoint,
      asked: Env.find((one) => one.startsWith('AIRBYTE_ENTRYPOINT=')),
      name: Labels['io.airbyte.name'],
      version: Labels['io.airbyte.version'],
      title: Labels['org.opencontainers.image.title'],
      release: Labels['org.opencontainers.image.version'],
      licence: Labels['org.opencontainers.image.licenses'],
    },
    {
      User: '1000:1000',
      Entrypoint: [`${HOME}/bin/${program}`],
      asked: `AIRBYTE_ENTRYPOINT=${HOME}/bin/${program}`,
      name: program,
      version: packageVersion(),
      title: program,
      release: packageVersion(),
      licence: 'MIT',
    },
  )
  return config
}

/** Where the files of an image can be seen, in a container of their own. */
export async function mounted(buildah: Buildah, image: string): Promise<string> {
  const container = (await buildah.run('from', '--pull-never', image)).trim()
  return (await buildah.run('mount', container)).trim()
}
