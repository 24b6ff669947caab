"""The files that come with the program: demo captions; icons and styles come with the window."""
