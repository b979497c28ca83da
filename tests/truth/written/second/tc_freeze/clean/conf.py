class Knobs:
    def __init__(self):
        self.blur = 1

    def stronger(self):
        pass


KNOBS = Knobs()
