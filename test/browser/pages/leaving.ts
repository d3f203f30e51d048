// How a page leaves, and comes back by the back button. Once in a page: Chromium goes back no further by itself.

const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];

/** The page was left before, and was not kept. */
export const cameAnew: boolean = navigation?.type === 'back_forward';

/** Whether it was kept; a page that was not never hears of it. */
export async function leaveAndReturn(): Promise<boolean> {
  const back = new Promise<boolean>((resolve) => addEventListener('pageshow', (event) => resolve(event.persisted)));
  // Not before the page has been shown the first time.
  await new Promise((resolve) => setTimeout(resolve, 50));
  location.href = '/page/away';
  return back;
}
