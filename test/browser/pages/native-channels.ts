// An isolated page, whose channels go over native ports where they are told to: to a SharedWorker, to a frame of another origin.
import { channelsOverNativePorts } from './native-ports.ts';

channelsOverNativePorts({ memory: false });
