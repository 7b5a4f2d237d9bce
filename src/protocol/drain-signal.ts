/** One promise for all who wait for the same thing; nobody has to look at it. */
export class DrainSignal {
  #waiting: PromiseWithResolvers | undefined

  wait(): Promise<void> {
    this.#waiting ??= withResolvers()
    return this.#waiting.promise
  }

  open(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  close(reason: Error): void {
    this.#waiting?.reject(reason)
    this.#waiting = undefined
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>
  resolve(): void
  reject(reason: Error): void
}

function withResolvers(): PromiseWithResolvers {
  let resolve: () => void = ignore
  let reject: (reason: Error) => void = ignore
  const promise = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })
  promise.catch(ignore)
  return { promise, resolve, reject }
}

/** A rejected promise that may be left alone. */
export function rejected(reason: Error): Promise<void> {
  const promise = Promise.reject(reason)
  promise.catch(ignore)
  return promise
}

function ignore(): void {}
